/* Runs a command and tells in the file of descriptor 3 what it used. The runner cannot ask the system itself: its own
 * memory counts for a process that it starts.
 *
 *   launch COMMAND ...     processor seconds, peak resident KiB
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 300, RUNNER = 3, NOT_STARTED = 127 };

static double seconds(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

int main(int argc, char **argv)
{
    int status;
    struct rusage used;
    if (argc < 2)
        return NOT_STARTED;
    pid_t child = fork();
    if (child == 0) {
        close(RUNNER);
        alarm(SECONDS);
        execvp(argv[1], argv + 1);
        _exit(NOT_STARTED);
    }
    if (child < 0 || wait4(child, &status, 0, &used) != child)
        return NOT_STARTED;
    dprintf(RUNNER, "%.6f %ld\n", seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : NOT_STARTED;
}
