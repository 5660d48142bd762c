// Forks while other threads are in the libc's malloc and streams, and allocate here: fork takes the libc's locks, which
// a thread that stands for the collector's sake would never give up. With Granary's malloc in the process, too.
// library: gc
// also: LD_PRELOAD={lib}
#include "check.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, FORKS = 150, STATUS = 3 };

static _Atomic int over;

static void *work(void *unused)
{
    for (unsigned long n = 0; !over; n++) {
        void *small = malloc(64 + n % 2000), *middle = malloc(5000 + n % 3000);
        CHECK(small != NULL && middle != NULL);
        free(small);
        free(middle);
        if (n % 64 == 0) {
            FILE *file = fopen("/dev/null", "w");
            CHECK(file != NULL);
            fclose(file);
        }
        for (int i = 0; i < 20; i++) {
            void **object = GC_MALLOC(16 + n % 100);
            CHECK(object != NULL && object[0] == NULL);
            object[0] = (void *)(n << 4 | 0x5000000000000000);
        }
    }
    return unused;
}

static void child(void)
{
    free(malloc(100000));
    for (int i = 0; i < 3000; i++) {
        void **object = GC_MALLOC(16 + i % 500);
        CHECK(object != NULL && object[0] == NULL && object[1] == NULL);
        object[0] = object[1] = (void *)-1;
    }
    GC_gcollect();
    _exit(STATUS);
}

int main(void)
{
    GC_INIT();
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, NULL) == 0);
    for (int i = 0; i < FORKS; i++) {
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0)
            child();
        int status = 0;
        CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == STATUS);
    }
    over = 1;
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    return 0;
}
