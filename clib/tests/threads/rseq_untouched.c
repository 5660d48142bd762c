// The restartable sequence area that glibc registers for each thread stays glibc's: it is
// registered, carries the processor number, and the library works without it as well.
// covers: 14
// run: {exe} && GLIBC_TUNABLES=glibc.pthread.rseq=0 {exe} off
#include "test.h"
#include <sys/rseq.h>

static int expect_registered = 1;

static void *run(void *unused)
{
    free(malloc(100));
    struct rseq *area = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
    for (int i = 0; i < 100; i++) {
        free(malloc(50000));
        CHECK(area->rseq_cs == 0, "somebody set a critical section");
        if (expect_registered)
            CHECK((int)area->cpu_id >= 0, "cpu_id is %d: not registered", (int)area->cpu_id);
    }
    return unused;
}

int main(int argc, char **argv)
{
    (void)argv;
    // Kernels without rseq, and the second run with the tunable.
    if (__rseq_size == 0)
        return 0;
    CHECK(argc == 1, "the tunable did not switch rseq off");
    run(NULL);
    pthread_t thread;
    start_thread(&thread, run, NULL);
    join_thread(thread);
    return 0;
}
