// Regions in which a thread says that it touches no object: it is not stopped there, its stack is scanned all the same,
// it may become active inside, and even forget to. Suspending and resuming one thread. Threads that end without a word.
// library: gc
// only: granary
#include "check.h"

#include <gc/javaxfc.h>

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic int inside, leave, over;
static _Atomic long counter;

static void *allocate_inside(void *kept)
{
    long *object = GC_malloc(50); /* bdwgc's documentation forbids it: it works here */
    object[0] = 7;
    GC_gcollect();
    CHECK(object[0] == 7 && *(long *)kept == 4711);
    return object;
}

static void *blocked(void *kept)
{
    inside++;
    while (!leave)
        usleep(100);
    long *object = GC_call_with_gc_active(allocate_inside, kept);
    CHECK(object[0] == 7);
    allocate_inside(kept);
    return kept;
}

static void *block(void *unused)
{
    (void)unused;
    long *kept = GC_malloc(100);
    *kept = 4711;
    long *same = GC_do_blocking(blocked, kept);
    CHECK(same == kept && *kept == 4711);
    return NULL;
}

static void *count(void *unused)
{
    while (!over) {
        GC_malloc(20);
        counter++;
    }
    return unused;
}

static void *end_silently(void *unused)
{
    GC_malloc(20);
    syscall(SYS_exit, 0);
    return unused;
}

static void suspend(pthread_t thread)
{
    GC_suspend_thread(thread);
    CHECK(GC_is_thread_suspended(thread));
    long before = counter;
    for (int i = 0; i < 20; i++)
        GC_gcollect();
    CHECK(counter == before);
    GC_resume_thread(thread);
    CHECK(!GC_is_thread_suspended(thread));
    while (counter == before)
        usleep(100);
}

int main(void)
{
    GC_INIT();
    pthread_t threads[3], counting;
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, block, NULL);
    while (inside < 3)
        usleep(100);
    for (int i = 0; i < 30; i++) {
        memset(GC_malloc(100), 1, 100);
        GC_gcollect();
    }
    leave = 1;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    pthread_create(&counting, NULL, count, NULL);
    while (counter == 0)
        usleep(100);
    for (int i = 0; i < 5; i++)
        suspend(counting);
    over = 1;
    pthread_join(counting, NULL);
    for (int i = 0; i < 5; i++) {
        pthread_t silent;
        pthread_create(&silent, NULL, end_silently, NULL);
        sched_yield();
        GC_gcollect();
    }
    return 0;
}
