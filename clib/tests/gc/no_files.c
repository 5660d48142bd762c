// A process that can open no more files: stacks are found all the same, of the main thread and of fibers, and threads
// that block signals are stopped.
// library: gc
// only: granary
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

struct node {
    struct node *next;
    long value;
};

enum { STACK_BYTES = 65536 };

static _Atomic int over;
static ucontext_t home, fiber;

static struct node *make(long length)
{
    struct node *list = NULL;
    for (long i = 0; i < length; i++) {
        struct node *node = GC_malloc(sizeof *node);
        *node = (struct node){list, i};
        list = node;
    }
    return list;
}

static void check(const struct node *list, long length)
{
    for (long i = length; i-- > 0; list = list->next)
        CHECK(list != NULL && list->value == i);
    CHECK(list == NULL);
}

static void *block_signals(void *unused)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    struct node *list = make(1000);
    while (!over)
        usleep(100);
    check(list, 1000);
    return unused;
}

static void in_fiber(void)
{
    struct node *list = make(1000);
    for (int i = 0; i < 3; i++) {
        GC_gcollect();
        check(make(1000), 1000);
    }
    check(list, 1000);
}

int main(void)
{
    struct rlimit none = {3, 3};
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    int more = dup(2);
    CHECK(more < 0);
    struct node *list = make(1000);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, block_signals, NULL) == 0);
    for (int i = 0; i < 10; i++) {
        GC_gcollect();
        check(make(1000), 1000);
    }
    char *stack = malloc(STACK_BYTES);
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = stack;
    fiber.uc_stack.ss_size = STACK_BYTES;
    fiber.uc_link = &home;
    makecontext(&fiber, in_fiber, 0);
    CHECK(swapcontext(&home, &fiber) == 0);
    check(list, 1000);
    over = 1;
    CHECK(pthread_join(thread, NULL) == 0);
    return 0;
}
