// A thread computes and blocks all signals by the system call, even the libc's own: nobody can stop it. Collections are
// given up, the program is told once and goes on with a larger heap, until the thread unblocks them.
// library: gc
// only: granary
// expect: ^granary: thread [0-9]+ cannot be stopped, as it blocks all signals
#include "check.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OBJECTS = 20000, OBJECT_BYTES = 1000 };

static _Atomic int blocked, unblock, over;

static void *compute(void *unused)
{
    long *kept = GC_malloc(sizeof *kept);
    *kept = 4711;
    uint64_t all = UINT64_MAX, before;
    CHECK(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all) == 0);
    for (blocked = 1; !unblock;)
        __asm__ volatile("" ::"r"(kept) : "memory");
    CHECK(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof all) == 0);
    for (blocked = 0; !over;)
        __asm__ volatile("" ::"r"(kept) : "memory");
    CHECK(*kept == 4711 && GC_base(kept) == kept);
    return unused;
}

int main(void)
{
    pthread_t thread;
    GC_INIT();
    CHECK(pthread_create(&thread, NULL, compute, NULL) == 0);
    while (!blocked)
        usleep(1000);
    GC_word collections = GC_get_gc_no();
    GC_gcollect();
    for (int i = 0; i < OBJECTS; i++)
        CHECK(GC_malloc(OBJECT_BYTES) != NULL);
    CHECK(GC_get_gc_no() == collections);
    CHECK(GC_get_heap_size() >= OBJECTS * OBJECT_BYTES);
    unblock = 1;
    while (blocked)
        usleep(1000);
    GC_gcollect();
    CHECK(GC_get_gc_no() == collections + 1);
    over = 1;
    CHECK(pthread_join(thread, NULL) == 0);
    return 0;
}
