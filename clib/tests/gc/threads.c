// Threads of every origin allocate and are collected at the same time: plain pthreads that never say so, threads made
// with GC_pthread_create, registered ones, and ones that end while others collect.
// library: gc
// only: granary
#include "check.h"

#include <pthread.h>

enum { THREADS = 8, ROUNDS = 60, LENGTH = 400 };

struct node {
    struct node *next;
    long value;
};

static struct node *make_list(long from)
{
    struct node *list = NULL;
    for (long i = 0; i < LENGTH; i++) {
        struct node *node = GC_malloc(sizeof *node);
        node->next = list;
        node->value = from + i;
        list = node;
        GC_malloc((size_t)(i * 7 % 900));
    }
    return list;
}

static void check_list(const struct node *list, long from)
{
    long i = LENGTH;
    for (; list != NULL; list = list->next)
        CHECK(list->value == from + --i);
    CHECK(i == 0);
}

static void *volatile results[THREADS]; /* those of threads made with pthread_create: nobody else keeps them */

static void *work(void *argument)
{
    long number = (long)argument;
    struct node *kept = make_list(number);
    for (long round = 0; round < ROUNDS; round++) {
        check_list(make_list(round), round);
        if (round % 20 == number)
            GC_gcollect();
    }
    check_list(kept, number);
    return kept;
}

static void *plain(void *argument) { return results[(long)argument] = work(argument); }

static void *registered(void *argument)
{
    struct GC_stack_base base;
    CHECK(GC_get_stack_base(&base) == GC_SUCCESS);
    CHECK(GC_register_my_thread(&base) == GC_SUCCESS);
    CHECK(GC_register_my_thread(&base) == GC_DUPLICATE);
    CHECK(GC_thread_is_registered());
    void *result = plain(argument);
    CHECK(GC_unregister_my_thread() == GC_SUCCESS);
    return result;
}

int main(void)
{
    GC_INIT();
    GC_allow_register_threads();
    for (int turn = 0; turn < 2; turn++) {
        pthread_t threads[THREADS];
        for (long i = 0; i < THREADS; i++)
            CHECK(i % 3 == 0   ? pthread_create(&threads[i], NULL, plain, (void *)i) == 0
                  : i % 3 == 1 ? GC_pthread_create(&threads[i], NULL, work, (void *)i) == 0
                               : pthread_create(&threads[i], NULL, registered, (void *)i) == 0);
        for (long i = 0; i < THREADS; i++) {
            void *result = NULL;
            CHECK(GC_pthread_join(threads[i], &result) == 0);
            check_list(result, i);
            results[i] = NULL;
        }
        work((void *)5);
    }
    CHECK(GC_get_gc_no() > 10);
    return 0;
}
