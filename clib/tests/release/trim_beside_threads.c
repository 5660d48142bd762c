// Threads allocate and free while others give back everything that is free, again and again: no
// block is lost or shared, and the debug mode takes no page that went back for a late write.
// only: granary
// also: GRANARY_DEBUG_ALLOC=1
// also: GRANARY_RANGE=32M
// refuse: written to after
#include "test.h"
#include <malloc.h>

enum { TRIMMERS = 2, WORKERS = 4, ROUNDS = 40, STEPS = 3000, SLOTS = 128 };
static int stop;

static void *trim(void *unused)
{
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        malloc_trim(0);
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    return unused;
}

static void *work(void *number)
{
    unsigned state = (unsigned)(uintptr_t)number;
    int rounds = getenv("GRANARY_DEBUG_ALLOC") != NULL ? ROUNDS / 8 : ROUNDS;
    for (int round = 0; round < rounds; round++) {
        unsigned char *blocks[SLOTS] = {NULL};
        size_t sizes[SLOTS];
        for (int step = 0; step < STEPS; step++) {
            state = state * 1103515245 + 12345;
            int slot = (int)(state >> 8) % SLOTS;
            if (blocks[slot] != NULL) {
                CHECK(blocks[slot][0] == slot && blocks[slot][sizes[slot] - 1] == slot,
                      "a block of %zu bytes changed", sizes[slot]);
                free(blocks[slot]);
                blocks[slot] = NULL;
                continue;
            }
            sizes[slot] = 1 + (state >> 16) % ((state >> 4) % 9 != 0 ? 6000 : 150000);
            blocks[slot] = malloc(sizes[slot]);
            CHECKED(blocks[slot] != NULL);
            memset(blocks[slot], slot, sizes[slot]);
        }
        for (int slot = 0; slot < SLOTS; slot++)
            free(blocks[slot]);
    }
    return NULL;
}

int main(void)
{
    pthread_t trimmers[TRIMMERS], workers[WORKERS];
    for (int i = 0; i < TRIMMERS; i++)
        CHECKED(pthread_create(&trimmers[i], NULL, trim, NULL) == 0);
    for (int i = 0; i < WORKERS; i++)
        CHECKED(pthread_create(&workers[i], NULL, work, (void *)(uintptr_t)(i + 1)) == 0);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < TRIMMERS; i++)
        pthread_join(trimmers[i], NULL);
    return 0;
}
