// The handler allocates even when it interrupted malloc or free. What comes out is not defined, but
// the child process that does it ends, one way or the other, and does not hang.
// covers: 18
// only: granary
#include "test.h"
#include <signal.h>
#include <sys/time.h>

static volatile sig_atomic_t ticks;

static void handler(int number)
{
    (void)number;
    ticks++;
    free(malloc(50 + (size_t)ticks % 3000));
}

static void child(void)
{
    hang_limit_seconds(10);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    CHECKED(sigaction(SIGPROF, &action, NULL) == 0);
    struct itimerval timer = {{0, 1000}, {0, 1000}};
    CHECKED(setitimer(ITIMER_PROF, &timer, NULL) == 0);
    static void *slots[512];
    uint64_t random = 13;
    while (ticks < 120) {
        uint64_t number = random_next(&random);
        void **slot = &slots[number % 512];
        free(*slot);
        *slot = malloc((number >> 10) % 2000);
    }
    _exit(0);
}

int main(void)
{
    for (int round = 0; round < 2; round++) {
        pid_t pid = fork();
        if (pid == 0)
            child();
        int status = wait_child(pid);
        CHECK(!(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM), "hung in a signal handler");
    }
    return 0;
}
