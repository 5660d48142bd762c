// The child of a fork has the open files that its parent has, standard input among them.
// timeout: 20
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    enum { FILES = 16 };
    int open_before[FILES];
    CHECKED(dup2(open("/dev/null", O_RDONLY), STDIN_FILENO) == STDIN_FILENO);
    free(malloc(100));
    for (int fd = 0; fd < FILES; fd++)
        open_before[fd] = fcntl(fd, F_GETFD) >= 0;
    pid_t child = fork();
    CHECKED(child >= 0);
    if (child == 0) {
        for (int fd = 0; fd < FILES; fd++)
            if ((fcntl(fd, F_GETFD) >= 0) != open_before[fd])
                _exit(fd + 1);
        _exit(0);
    }
    int status;
    CHECKED(waitpid(child, &status, 0) == child);
    CHECKED(status == 0);
    return 0;
}
