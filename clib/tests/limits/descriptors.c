// The library keeps no file descriptor open, and works when none is left or 0, 1 and 2 are closed.
// covers: 12
// args: first
#include "test.h"
#include <sys/resource.h>

int main(int argc, char **argv)
{
    if (argc == 2) {
        for (int fd = 3; fd < 1024; fd++)
            close(fd); // those that came from outside
        execl("/proc/self/exe", argv[0], NULL);
        FAIL("exec: errno %d", errno);
    }
    free(malloc(100));
    free(malloc(100000));
    for (int fd = 3; fd < 64; fd++)
        CHECK(fcntl(fd, F_GETFD) < 0, "descriptor %d is open", fd);
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_NOFILE, &none);
        close(0);
        close(1);
        close(2);
        for (size_t size = 0; size < 300000; size += 97)
            free(malloc(size));
        wait_ms(20);
        exit(0);
    }
    expect_child_ok(pid, "without descriptors");
    return 0;
}
