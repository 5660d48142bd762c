// The queue of signals that the user may have waiting is full (RLIMIT_SIGPENDING): threads are stopped all the same,
// and signals of the program's go to the program.
// library: gc
// only: granary
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

enum { THREADS = 3, COLLECTIONS = 20 };

static _Atomic int ready, over, handled;

static void on_signal(int number)
{
    (void)number;
    handled++;
}

static void *compute(void *argument)
{
    if (argument != NULL) {
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, GC_get_suspend_signal());
        pthread_sigmask(SIG_BLOCK, &one, NULL);
    }
    long *kept = GC_malloc(sizeof *kept);
    *kept = 4711;
    for (ready++; !over;)
        __asm__ volatile("" ::"r"(kept) : "memory");
    CHECK(*kept == 4711 && GC_base(kept) == kept);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    const struct rlimit none = {0, 0};
    GC_INIT();
    signal(GC_get_suspend_signal(), on_signal);
    signal(SIGURG, on_signal);
    CHECK(setrlimit(RLIMIT_SIGPENDING, &none) == 0);
    for (long i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, compute, (void *)i) == 0);
    while (ready < THREADS)
        usleep(1000);
    for (int i = 0; i < COLLECTIONS; i++) {
        GC_word collections = GC_get_gc_no();
        GC_gcollect();
        CHECK(GC_get_gc_no() == collections + 1);
    }
    CHECK(handled == 0);
    CHECK(kill(getpid(), GC_get_suspend_signal()) == 0 && raise(SIGURG) == 0);
    while (handled < 2)
        usleep(1000);
    over = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
