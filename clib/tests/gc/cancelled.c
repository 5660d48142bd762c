// A thread that is to be cancelled ends at a call of its own: not in an allocation or a collection, whatever files
// those open and whatever they print, and not in a function of the program that a collection calls.
// library: gc
// env: GC_PRINT_STATS=1
// also: GC_ENABLE_INCREMENTAL=1
// also: GC_ENABLE_INCREMENTAL=1 GC_PAUSE_TIME_TARGET=1
// also: GC_FIND_LEAK=1
#include "check.h"

#include <pthread.h>

enum { ROUNDS = 20, OBJECTS = 2000 };

static void *volatile kept[OBJECTS];

/* Prints, which is where a thread may end. */
static void told(GC_EventType event)
{
    (void)event;
    CHECK(write(1, "", 0) == 0);
}

static void *work(void *reached)
{
    pthread_cancel(pthread_self()); /* before this thread is known */
    for (int i = 0; i < OBJECTS; i++) {
        kept[i] = GC_malloc(1000);
        CHECK(kept[i] != NULL);
    }
    GC_gcollect();
    GC_collect_a_little();
    GC_free(kept[0]);
    kept[0] = NULL;
    *(int *)reached = 1;
    pthread_testcancel();
    return NULL;
}

int main(void)
{
    GC_INIT();
    GC_allow_register_threads();
    GC_set_on_collection_event(told);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_t thread;
        int reached = 0;
        void *result;
        CHECK(pthread_create(&thread, NULL, work, &reached) == 0 && pthread_join(thread, &result) == 0);
        CHECK(reached && result == PTHREAD_CANCELED);
        GC_gcollect();
    }
    return 0;
}
