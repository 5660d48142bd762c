// A system call of a blocked thread writes into the heap whenever it likes, also while the world stands and written
// pages are looked for. What only the word that it wrote leads to is not lost.
// library: gc
// env: GC_ENABLE_INCREMENTAL=1
// also: GC_PAUSE_TIME_TARGET=1
// only: granary
#include "check.h"

#include <pthread.h>
#include <unistd.h>

enum { OLD = 1000, OBJECT_BYTES = 2000, ALIVE = 200000 };

struct object {
    struct object *young;
    long value;
    char room[OBJECT_BYTES - 2 * sizeof(long)];
};

struct node {
    struct node *next;
    struct object *in_transit;
};

static struct object **old;
static struct node *list; /* long, so that a collection in slices takes some: the last node is looked at late */
static int queue[2], orders[2];
static _Atomic long arrived = -1;

/* A thread of which the collector knows nothing, which has the address on its way. */
static void *carry(void *unused)
{
    struct object *object;
    unsigned random = 1;
    while (read(orders[0], &object, sizeof object) == sizeof object) {
        random = random * 1103515245 + 12345;
        for (volatile unsigned i = random >> 14 & 0xffff; i > 0; i--)
            continue;
        CHECK(write(queue[1], &object, sizeof object) == sizeof object);
    }
    return unused;
}

static void *read_blocked(void *unused)
{
    for (long i = 0; i < OLD; i++) {
        CHECK(read(queue[0], &old[i]->young, sizeof old[i]->young) == sizeof old[i]->young);
        arrived = i;
    }
    return unused;
}

static void *receive(void *unused)
{
    struct GC_stack_base base;
    CHECK(GC_get_stack_base(&base) == GC_SUCCESS);
    GC_register_my_thread(&base);
    GC_do_blocking(read_blocked, NULL);
    GC_unregister_my_thread();
    return unused;
}

static void check_until(long end)
{
    for (long i = 0; i < end; i++)
        CHECK(old[i]->young->value == i);
}

int main(void)
{
    pthread_t receiver, carrier;
    GC_INIT();
    GC_allow_register_threads();
    CHECK(pipe(queue) == 0 && pipe(orders) == 0);
    GC_add_roots(&old, &old + 1);
    GC_add_roots(&list, &list + 1);
    struct node *last = list = GC_malloc(sizeof *list);
    for (long i = 0; i < ALIVE; i++) {
        struct node *node = GC_malloc(sizeof *node);
        node->next = list;
        list = node;
    }
    old = GC_malloc(OLD * sizeof *old);
    for (long i = 0; i < OLD; i++)
        old[i] = GC_malloc(sizeof *old[i]);
    CHECK(pthread_create(&receiver, NULL, receive, NULL) == 0 && pthread_create(&carrier, NULL, carry, NULL) == 0);
    for (long i = 0; i < OLD; i++) {
        struct object *object = GC_malloc(sizeof *object);
        object->value = i;
        last->in_transit = object;
        CHECK(write(orders[1], &object, sizeof object) == sizeof object);
        object = NULL;
        while (arrived < i)
            GC_malloc_atomic(20000);
        last->in_transit = NULL;
        if (i % 100 == 99)
            check_until(i);
    }
    check_until(OLD);
    return 0;
}
