// Threads free what others made, end while their blocks hold allocations, and nothing is lost or handed out twice.
// only: granary
// link: {granary}
// also: GRANARY_ALLOC_SYSTEM=1
// also: GRANARY_DEBUG_ALLOC=1
#include "../test.h"
#include <granary.h>

enum { THREADS = 4, ROUNDS = 20000, SLOTS = 512, GENERATIONS = 5 };

static granary_linear *linear;
static _Atomic(uint64_t *) slots[SLOTS];
static int rounds;

static void take_back(uint64_t *p)
{
    if (p == NULL)
        return;
    CHECK(p[0] == (uintptr_t)p * 3 && p[p[1] / 8 - 1] == p[1], "an allocation was overwritten");
    p[0] = 0;
    CHECK(granary_linear_free(linear, p) == 0, "a free was refused");
}

static void *work(void *argument)
{
    uint64_t random = (uintptr_t)argument * 77 + 1;
    for (int i = 0; i < rounds; i++) {
        size_t size = 24 + random_next(&random) % 2000 / 8 * 8;
        if (random_next(&random) % 64 == 0)
            size *= 64;
        uint64_t *p = granary_linear_alloc(linear, size, 8);
        CHECKED(p != NULL);
        p[0] = (uintptr_t)p * 3;
        p[1] = p[size / 8 - 1] = size;
        take_back(__atomic_exchange_n(&slots[random_next(&random) % SLOTS], p, __ATOMIC_ACQ_REL));
        if (random_next(&random) % 3 == 0)
            take_back(__atomic_exchange_n(&slots[random_next(&random) % SLOTS], NULL, __ATOMIC_ACQ_REL));
    }
    return NULL;
}

int main(void)
{
    granary_linear_config config = {.name = "threads", .block_bytes = 64 * KIB, .blocks = 24};
    linear = granary_linear_create(&config, sizeof config);
    rounds = getenv("GRANARY_DEBUG_ALLOC") != NULL ? ROUNDS / 50 : ROUNDS;
    CHECKED(linear != NULL);
    for (int generation = 0; generation < GENERATIONS; generation++) {
        pthread_t threads[THREADS];
        for (uintptr_t i = 0; i < THREADS; i++)
            CHECKED(pthread_create(&threads[i], NULL, work, (void *)(i + 1 + generation * 10)) == 0);
        for (int i = 0; i < THREADS; i++)
            CHECKED(pthread_join(threads[i], NULL) == 0);
        granary_linear_next_frame(linear);
    }
    for (int i = 0; i < SLOTS; i++)
        take_back(slots[i]);
    granary_linear_stats stats;
    CHECKED(granary_linear_get_stats(linear, &stats, sizeof stats) == 0);
    CHECK(stats.live == 0 && stats.overflows_live == 0 && stats.misuses == 0, "%lu and %lu are alive", stats.live,
          stats.overflows_live);
    /* No thread that has a block is left. */
    CHECK(stats.blocks_used == 0, "%lu blocks are in use", stats.blocks_used);
    CHECKED(granary_linear_destroy(linear) == 0);
    return 0;
}
