// A thread that is cancelled while its wait is cut into pieces runs its clean-up handlers with the
// signal mask that it had.
#include "test.h"
#include <signal.h>

enum { THREADS = 400 };
static int handlers, blocked;

static void clean(void *unused)
{
    sigset_t mask;
    (void)unused;
    pthread_sigmask(0, NULL, &mask);
    handlers++;
    blocked += sigismember(&mask, SIGTERM);
}

static void *run(void *unused)
{
    pthread_cleanup_push(clean, NULL);
    for (size_t i = 0; i < 2000; i++)
        free(malloc(2000 + i * 8));
    for (;;) {
        for (int i = 0; i < 20; i++)
            free(malloc(300000));
        poll(NULL, 0, 50);
    }
    pthread_cleanup_pop(1);
    return unused;
}

int main(void)
{
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        CHECKED(pthread_create(&thread, NULL, run, NULL) == 0);
        usleep(300 + (useconds_t)(i % 300) * 10); // so that the cancellation comes at other places
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    CHECK(handlers == THREADS, "%d clean-up handlers ran, not %d", handlers, THREADS);
    CHECK(blocked == 0, "%d clean-up handlers of %d ran with SIGTERM blocked", blocked, handlers);
    return 0;
}
