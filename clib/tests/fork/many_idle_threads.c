// fork with 200 idle threads that all have caches: 100 forks end soon, since nothing is done for
// each thread.
// covers: 16
#include "test.h"

enum { THREADS = 200, FORKS = 100 };
static pthread_barrier_t ready, done;

static void *idle(void *unused)
{
    for (size_t size = 16; size < 30000; size += size / 2)
        free(malloc(size));
    pthread_barrier_wait(&ready);
    pthread_barrier_wait(&done);
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS];
    CHECKED(pthread_barrier_init(&ready, NULL, THREADS + 1) == 0);
    CHECKED(pthread_barrier_init(&done, NULL, THREADS + 1) == 0);
    for (int i = 0; i < THREADS; i++)
        start_thread(&threads[i], idle, NULL);
    pthread_barrier_wait(&ready);
    for (int i = 0; i < FORKS; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            free(malloc(100));
            _exit(0);
        }
        expect_child_ok(pid, "child");
    }
    pthread_barrier_wait(&done);
    for (int i = 0; i < THREADS; i++)
        join_thread(threads[i]);
    return 0;
}
