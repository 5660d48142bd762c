// A stop of the world ends although its threads wait for each other: one that blocks all signals, even the libc's own,
// waits for one that is stopped already, and a signal of the program comes to the collecting thread, whose handler
// waits for a stopped thread, too.
// library: gc
// only: granary
// timeout: 20
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { COLLECTIONS = 3, STEPS = 50 };

static _Atomic long steps;
static _Atomic int ready, over, stops, ends, handled;

static void *make_steps(void *kept)
{
    GC_malloc(1);
    ready++;
    while (!over) {
        usleep(1000);
        steps++;
    }
    return kept;
}

static void wait_for_steps(void)
{
    for (long end = steps + STEPS; steps < end;)
        __asm__ volatile("" ::: "memory");
}

/* Waits for the other thread's steps from the moment on at which a stop begins. */
static void *block_all(void *unused)
{
    long *kept = GC_malloc(sizeof *kept);
    *kept = 4711;
    for (int seen = 0; seen < COLLECTIONS; seen++) {
        uint64_t all = UINT64_MAX, before;
        CHECK(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all) == 0);
        ready++;
        while (stops <= seen)
            __asm__ volatile("" ::: "memory");
        wait_for_steps();
        CHECK(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof all) == 0);
        while (ends <= seen)
            usleep(1000);
        CHECK(*kept == 4711 && GC_base(kept) == kept);
    }
    return unused;
}

static void on_signal(int number)
{
    (void)number;
    wait_for_steps();
    handled++;
}

static void on_event(GC_EventType event)
{
    if (event == GC_EVENT_PRE_STOP_WORLD)
        stops++;
    if (event == GC_EVENT_POST_STOP_WORLD)
        CHECK(pthread_kill(pthread_self(), SIGUSR1) == 0);
    if (event == GC_EVENT_END)
        ends++;
}

int main(void)
{
    pthread_t threads[2];
    GC_INIT();
    signal(SIGUSR1, on_signal);
    CHECK(pthread_create(&threads[0], NULL, make_steps, NULL) == 0);
    CHECK(pthread_create(&threads[1], NULL, block_all, NULL) == 0);
    GC_set_on_collection_event(on_event);
    for (int i = 0; i < COLLECTIONS; i++) {
        while (ready < 2 + i)
            usleep(1000);
        GC_gcollect();
    }
    GC_set_on_collection_event(NULL);
    CHECK(handled == COLLECTIONS);
    CHECK(pthread_join(threads[1], NULL) == 0);
    over = 1;
    CHECK(pthread_join(threads[0], NULL) == 0);
    return 0;
}
