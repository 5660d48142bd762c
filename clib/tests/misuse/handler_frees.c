// A signal handler allocates, and frees blocks of the thread that it interrupts, at any moment of
// the guard's own work. Nothing is lost, and no fault is reported.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// refuse: granary
#include "test.h"
#include <signal.h>
#include <sys/time.h>

enum { ROUNDS = 20000, SHARED = 64 };

static void *shared[SHARED];
static volatile sig_atomic_t calls;

static void handler(int number)
{
    int saved = errno;
    (void)number;
    size_t at = (size_t)calls++ % SHARED;
    free(__atomic_exchange_n(&shared[at], malloc(at * 9), __ATOMIC_SEQ_CST));
    errno = saved;
}

int main(void)
{
    signal(SIGALRM, handler);
    struct itimerval every = {.it_interval = {.tv_usec = 200}, .it_value = {.tv_usec = 200}};
    uint64_t random = 5;
    CHECKED(setitimer(ITIMER_REAL, &every, NULL) == 0);
    for (size_t i = 0; i < ROUNDS; i++) {
        void *block = malloc(random_next(&random) % 500);
        void *before = __atomic_exchange_n(&shared[i % SHARED], block, __ATOMIC_SEQ_CST);
        free(realloc(before, 1 + random_next(&random) % 700));
        if (i % 100 == 0)
            free(malloc(60000)); // the libc's own: the handler has only small ones
    }
    every = (struct itimerval){0};
    CHECKED(setitimer(ITIMER_REAL, &every, NULL) == 0);
    signal(SIGALRM, SIG_IGN);
    for (size_t i = 0; i < SHARED; i++)
        free(shared[i]);
    return 0;
}
