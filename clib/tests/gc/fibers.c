// Stacks of fibers: a collection in a fiber keeps what its stack holds and what the thread's own stack holds, in the
// main thread and in another, whether the stack is a mapping or a piece of the heap.
// library: gc
// only: granary
#include "check.h"

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { STACK_BYTES = 256 << 10 };

static __thread ucontext_t outside, inside;
static __thread int turns;

static void fiber(void)
{
    long *mine = GC_malloc(200);
    mine[3] = 4711;
    for (turns = 0; turns < 5; turns++) {
        for (int i = 0; i < 3; i++)
            GC_gcollect();
        for (int i = 0; i < 2000; i++)
            memset(GC_malloc(200), 0x55, 200);
        CHECK(mine[3] == 4711);
        swapcontext(&inside, &outside);
    }
}

/* The fiber's stack is named as a root while it does not run. */
static void run_fiber(char *stack)
{
    long *mine = GC_malloc(200);
    mine[5] = 815;
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = STACK_BYTES;
    inside.uc_link = &outside;
    makecontext(&inside, fiber, 0);
    GC_add_roots(stack, stack + STACK_BYTES);
    for (int i = 0; i < 6; i++) {
        swapcontext(&outside, &inside);
        CHECK(mine[5] == 815);
        GC_gcollect();
    }
    GC_remove_roots(stack, stack + STACK_BYTES);
    CHECK(turns == 5 && mine[5] == 815);
}

static void *work(void *unused)
{
    char *mapping = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    run_fiber(mapping);
    char *piece = malloc(STACK_BYTES);
    run_fiber(piece);
    free(piece);
    return unused;
}

int main(void)
{
    GC_INIT();
    work(NULL);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    work(NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
