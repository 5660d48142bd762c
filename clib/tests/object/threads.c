// Threads make, delete, hold and visit objects of the same types; children that are forked
// meanwhile go on with what they got.
// only: granary
// link: {granary}
// also: GRANARY_ALLOC_SYSTEM=1
// also: GRANARY_DEBUG_ALLOC=1
#include "test.h"
#include "granary.h"

enum { THREADS = 4, ROUNDS = 4000, BOARD = 32 };

struct thing {
    uint64_t mark;
    granary_var other;
};

static granary_object_type *types[2];
static granary_ref board[BOARD];

static void play(uint64_t seed, int rounds)
{
    uint64_t state = seed * 77 + 1;
    granary_var own = {0};
    for (int i = 0; i < rounds; i++) {
        uint64_t n = random_next(&state) >> 20;
        granary_ref *slot = &board[n % BOARD];
        granary_ref seen = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
        granary_object_type *type = types[n >> 8 & 1];
        switch (n >> 10 & 7) {
        case 0: case 1: case 2: {
            granary_ref ref = granary_object_new(type);
            struct thing *t = granary_object_get(ref);
            CHECK(t != NULL && t->mark == 0 && t->other.ref == 0, "a new object is not empty");
            t->mark = ref;
            granary_object_set(&t->other, seen);
            granary_ref old = __atomic_exchange_n(slot, ref, __ATOMIC_ACQ_REL);
            granary_object_delete(&old);
            break;
        }
        case 3:
            granary_object_delete(&seen);
            break;
        case 4:
            granary_object_set(&own, seen);
            granary_object_after(own.ref);
            break;
        case 5:
            granary_object_from_handle(type, granary_object_handle(seen));
            break;
        case 6:
            granary_object_insert_before(seen, granary_object_first(type));
            break;
        default:
            for (granary_ref r = granary_object_start(type); r != 0; r = granary_object_next(type, r))
                if ((random_next(&state) & 31) == 0) {
                    granary_object_stop(type, r);
                    break;
                }
        }
    }
    granary_object_clear(&own);
}

static void *run(void *argument)
{
    play((uint64_t)(uintptr_t)argument, ROUNDS);
    return NULL;
}

static void end(void)
{
    for (int i = 0; i < 2; i++)
        granary_object_delete_each(types[i]);
    for (int i = 0; i < 2; i++) {
        granary_object_stats stats;
        CHECKED(granary_object_get_stats(types[i], &stats, sizeof stats) == 0);
        CHECK(stats.alive == 0 && stats.unreleased == 0 && stats.slots == stats.free + stats.retired,
              "%llu alive, %llu unreleased, %llu free of %llu", (unsigned long long)stats.alive,
              (unsigned long long)stats.unreleased, (unsigned long long)stats.free,
              (unsigned long long)stats.slots);
    }
}

int main(void)
{
    static const granary_object_field other = {.offset = 8, .kind = GRANARY_OBJECT_VAR};
    pthread_t threads[THREADS];
    for (int i = 0; i < 2; i++)
        types[i] = granary_object_type_new("thing", sizeof(struct thing), &other, 1, 0);
    for (int i = 0; i < THREADS; i++)
        start_thread(&threads[i], run, (void *)(uintptr_t)(i + 1));
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0) {
            hang_limit_seconds(60);
            play((uint64_t)i + 100, 300);
            for (int k = 0; k < 2; k++)
                granary_object_delete_each(types[k]);
            _Exit(0);
        }
        expect_child_ok(child, "child of a fork beside threads");
    }
    for (int i = 0; i < THREADS; i++)
        join_thread(threads[i]);
    end();
    return 0;
}
