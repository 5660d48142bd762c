// Every process writes its report once, however it ends: by _exit of a thread while others
// allocate, by _exit after a fork in a signal handler. The child of a vfork has its parent's memory
// and writes none.
// covers: 15 20
// only: granary
// env: GRANARY_REPORT=text GRANARY_REPORT_FILE={dir}/%p
// args: {dir}
#include "test.h"
#include <dirent.h>
#include <signal.h>

static void *churn(void *unused)
{
    for (size_t size = 0;; size = (size + 97) % 50000)
        free(malloc(size));
    return unused;
}

static void *leave(void *unused)
{
    (void)unused;
    free(malloc(100));
    _exit(0);
}

static void end_by_thread(void)
{
    pthread_t thread;
    hang_limit_seconds(20);
    for (int i = 0; i < 3; i++)
        start_thread(&thread, churn, NULL);
    start_thread(&thread, leave, NULL);
    churn(NULL);
}

static volatile sig_atomic_t handler_pid;
static void on_signal(int number)
{
    (void)number;
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    handler_pid = pid;
}

// Returns how many reports the process's file has.
static int reports_of(const char *dir, pid_t pid)
{
    char path[512], text[32768];
    snprintf(path, sizeof path, "%s/%d", dir, (int)pid);
    if (access(path, F_OK) != 0)
        return 0;
    read_text(path, text, sizeof text);
    int count = 0;
    for (char *at = text; (at = strstr(at, "peak RSS")); at++)
        count++;
    return count;
}

int main(int argc, char **argv)
{
    CHECKED(argc == 2);
    free(malloc(10));
    pid_t by_thread = fork();
    if (by_thread == 0)
        end_by_thread();
    expect_child_ok(by_thread, "_exit of a thread");
    struct sigaction action = {.sa_handler = on_signal};
    CHECKED(sigaction(SIGUSR1, &action, NULL) == 0);
    raise(SIGUSR1);
    expect_child_ok(handler_pid, "fork in a handler");
    pid_t by_vfork = vfork();
    if (by_vfork == 0)
        _exit(0);
    expect_child_ok(by_vfork, "vfork");
    CHECK(reports_of(argv[1], by_thread) == 1, "%d reports", reports_of(argv[1], by_thread));
    CHECK(reports_of(argv[1], handler_pid) == 1, "%d reports", reports_of(argv[1], handler_pid));
    CHECK(reports_of(argv[1], by_vfork) == 0, "%d reports", reports_of(argv[1], by_vfork));
    CHECK(reports_of(argv[1], getpid()) == 0, "a report before the end");
    return 0;
}
