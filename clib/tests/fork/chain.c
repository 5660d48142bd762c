// A chain of forks, each child forking the next while its parent goes on forking others and threads
// allocate.
// covers: 15
// also: GRANARY_DEBUG_ALLOC=1
#include "test.h"
#include <stdatomic.h>

static atomic_bool stop;
static void *churn(void *unused)
{
    for (size_t size = 0; !atomic_load(&stop); size = (size + 97) % 50000)
        free(malloc(size));
    return unused;
}

static void link_of_chain(int depth)
{
    hang_limit_seconds(50);
    pthread_t thread;
    atomic_store(&stop, 0);
    start_thread(&thread, churn, NULL);
    char *kept = malloc(500);
    fill_block(kept, 500, (uint64_t)depth);
    pid_t next = 0;
    if (depth < 12) {
        next = fork();
        if (next == 0) {
            check_block(kept, 500, (uint64_t)depth);
            free(kept);
            link_of_chain(depth + 1);
        }
    }
    for (int i = 0; i < 5; i++) {
        pid_t side = fork();
        if (side == 0) {
            free(kept);
            free(malloc(3000));
            _exit(0);
        }
        expect_child_ok(side, "side child");
    }
    atomic_store(&stop, 1);
    join_thread(thread);
    if (next)
        expect_child_ok(next, "next link");
    check_block(kept, 500, (uint64_t)depth);
    free(kept);
    if (depth)
        _exit(0);
}

int main(void)
{
    link_of_chain(0);
    return 0;
}
