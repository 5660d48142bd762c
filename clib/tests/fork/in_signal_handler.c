// fork in a signal handler that interrupts malloc, as crash reporters do: the child,
// single-threaded, goes on allocating, and the parent does not wait for itself.
// covers: 15 18
#include "test.h"
#include <signal.h>
#include <sys/time.h>

static volatile sig_atomic_t forks;

static void handler(int number)
{
    (void)number;
    int saved = errno;
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    if (pid > 0)
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    forks++;
    errno = saved;
}

int main(void)
{
    hang_limit_seconds(30);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    CHECKED(sigaction(SIGUSR1, &action, NULL) == 0);
    pid_t parent = getpid(), sender = fork();
    if (sender == 0) {
        for (int i = 0; i < 100; i++) {
            kill(parent, SIGUSR1);
            usleep(2000);
        }
        _exit(0);
    }
    static void *blocks[512];
    uint64_t random = 9;
    int status;
    while (waitpid(sender, &status, WNOHANG) == 0) {
        for (int i = 0; i < 2000; i++) {
            uint64_t number = random_next(&random);
            void **slot = &blocks[number % 512];
            free(*slot);
            *slot = malloc((number >> 10) % (number % 16 ? 2000 : 60000));
        }
    }
    CHECK(forks > 10, "only %d forks", (int)forks);
    return 0;
}
