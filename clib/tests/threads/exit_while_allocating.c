// The program ends while threads still allocate and free, by return, exit and quick_exit: no crash,
// no hang, also with the checks and reports that run at the end.
// covers: 20
// also: GRANARY_DEBUG_ALLOC_STATS=1
// also: GRANARY_REPORT=text GRANARY_REPORT_FILE=/dev/null
// also: GRANARY_DEBUG_ALLOC=1 GRANARY_REPORT=text GRANARY_REPORT_FILE=/dev/null
#include "test.h"
#include <stdatomic.h>

static atomic_int running;

static void *churn(void *argument)
{
    uint64_t random = (uintptr_t)argument + 1;
    void *blocks[64] = {0};
    atomic_fetch_add(&running, 1);
    while (random) {
        uint64_t number = random_next(&random);
        void **slot = &blocks[number % 64];
        free(*slot);
        *slot = malloc((number >> 8) % (number % 9 ? 900 : 50000));
    }
    return NULL;
}

int main(void)
{
    for (int way = 0; way < 12; way++) {
        pid_t pid = fork();
        if (pid == 0) {
            hang_limit_seconds(15);
            pthread_t thread;
            for (uintptr_t i = 0; i < 3; i++)
                start_thread(&thread, churn, (void *)i);
            while (atomic_load(&running) < 3)
                sched_yield();
            if (way % 3 == 0)
                return 0;
            if (way % 3 == 1)
                exit(0);
            quick_exit(0);
        }
        expect_child_ok(pid, "ending");
    }
    return 0;
}
