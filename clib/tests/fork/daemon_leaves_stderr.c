// A daemon that puts /dev/null in the place of its descriptors lets go of the pipe that was its
// standard error, although a report to stderr was asked for: who reads the pipe sees its end.
// only: granary
// env: GRANARY_REPORT=text
// also: GRANARY_DEBUG_ALLOC=1
#include "test.h"
#include <signal.h>

static void be_daemon(int ready)
{
    if (fork() != 0)
        _exit(0);
    setsid();
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    pid_t self = getpid();
    CHECKED(write(ready, &self, sizeof self) == sizeof self);
    for (;;)
        pause();
}

int main(int count, char **arguments)
{
    if (count > 1)
        be_daemon(atoi(arguments[1]));
    int errors[2], ready[2];
    CHECKED(pipe(errors) == 0 && pipe(ready) == 0);
    if (fork() == 0) {
        char number[16];
        snprintf(number, sizeof number, "%d", ready[1]);
        dup2(errors[1], 2);
        close(errors[0]);
        close(errors[1]);
        execl("/proc/self/exe", arguments[0], number, (char *)NULL);
        _exit(127);
    }
    close(errors[1]);
    pid_t daemon;
    CHECKED(read(ready[0], &daemon, sizeof daemon) == sizeof daemon);
    struct pollfd end = {.fd = errors[0], .events = POLLIN};
    char text[4096];
    ssize_t n = 1;
    while (n > 0 && poll(&end, 1, 5000) == 1)
        n = read(errors[0], text, sizeof text);
    kill(daemon, SIGKILL);
    CHECK(n == 0, "the daemon keeps its first standard error open");
    return 0;
}
