// Threads that block all signals, wait for all signals, have taken all signals, or run on an alternate stack are
// stopped like others, and see nothing of it.
// library: gc
// only: granary
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

enum { THREADS = 5, COLLECTIONS = 50 };

static _Atomic int ready, over, strays;
static void **volatile shared;

static void on_any(int number)
{
    (void)number;
    strays++;
}

static void *spin(void *unused)
{
    (void)unused;
    while (!over)
        if (GC_malloc(40) == NULL)
            abort();
    return NULL;
}

static void *blocks_all(void *unused)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    GC_malloc(1);
    ready++;
    return spin(unused);
}

/* Known to the collector first, and only then are the signals blocked. */
static void *blocks_later(void *unused)
{
    sigset_t all;
    GC_malloc(1);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    ready++;
    while (!over)
        usleep(1000);
    return unused;
}

static void *waits_for_all(void *unused)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    void *mine = GC_malloc(100);
    ready++;
    int number = 0;
    sigwait(&all, &number);
    CHECK(number == SIGUSR2 && GC_base(mine) == mine);
    return unused;
}

static void on_alternate_stack(int number)
{
    (void)number;
    void *mine = GC_malloc(100);
    *(void **)mine = mine;
    ready++;
    while (!over)
        GC_malloc(30);
    CHECK(*(void **)mine == mine);
}

static void *has_alternate_stack(void *unused)
{
    stack_t stack = {.ss_sp = malloc(100000), .ss_size = 100000};
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_handler = on_alternate_stack, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, NULL);
    void *mine = GC_malloc(64); /* on the stack that is not in use then */
    memset(mine, 7, 64);
    pthread_kill(pthread_self(), SIGUSR1);
    for (int i = 0; i < 64; i++)
        CHECK(((char *)mine)[i] == 7);
    return unused;
}

int main(void)
{
    GC_INIT();
    pthread_t threads[THREADS];
    void *(*const work[THREADS])(void *) = {spin, blocks_all, blocks_later, waits_for_all, has_alternate_stack};
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work[i], NULL);
    while (ready < THREADS - 1)
        usleep(100);
    GC_disable(); /* what is sent while the program takes it goes to the program */
    for (int number = 1; number < NSIG; number++)
        if (number != SIGUSR1 && number != SIGUSR2)
            signal(number, on_any);
    GC_enable();
    for (int i = 0; i < COLLECTIONS; i++) {
        shared = GC_malloc(64);
        *shared = shared;
        GC_gcollect();
        CHECK(*shared == shared);
    }
    over = 1;
    pthread_kill(threads[3], SIGUSR2);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(strays == 0);
    CHECK(GC_get_suspend_signal() > SIGRTMIN);
    raise(GC_get_suspend_signal()); /* the program's own goes to its handler */
    CHECK(strays == 1);
    return 0;
}
