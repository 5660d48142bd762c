// A constructor that forks before main begins, and a handler that forks at the end: parent and
// child go on allocating and freeing, in the child with a thread of its own.
// covers: 15
// also: GRANARY_DEBUG_ALLOC=1
// also: GRANARY_REPORT=text GRANARY_REPORT_FILE=/dev/null
#include "test.h"

static void *early;

static void *use(void *unused)
{
    for (size_t size = 0; size < 50000; size += 499)
        free(malloc(size));
    return unused;
}

static void use_in_both(const char *where)
{
    void *before = malloc(1000);
    fill_block(before, 1000, 5);
    pid_t pid = fork();
    if (pid == 0) {
        hang_limit_seconds(20);
        check_block(before, 1000, 5);
        free(before);
        pthread_t thread;
        start_thread(&thread, use, NULL);
        use(NULL);
        join_thread(thread);
        _exit(0);
    }
    use(NULL);
    check_block(before, 1000, 5);
    free(before);
    expect_child_ok(pid, where);
}

static void at_the_end(void)
{
    use_in_both("fork at the end");
}

__attribute__((constructor)) static void at_the_start(void)
{
    early = malloc(60000);
    use_in_both("fork in a constructor");
    atexit(at_the_end);
}

int main(void)
{
    CHECKED(early != NULL);
    free(early);
    use_in_both("fork in main");
    return 0;
}
