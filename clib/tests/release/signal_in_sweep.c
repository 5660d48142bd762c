// A signal that comes while memory is given back inside of a wait ends the wait with EINTR, as one
// that comes while the kernel waits: a server must not sleep on after its SIGTERM. The signal is
// raised where the sweep makes its system call, which a filter turns into a SIGSYS.
// covers: 18
// only: granary
#include "test.h"
#include "limits/seccomp.h"
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <ucontext.h>

static volatile sig_atomic_t trapped, signals;

static void on_signal(int number)
{
    (void)number;
    signals++;
}

static void on_trap(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = -EPERM;
    if (!trapped++)
        raise(SIGUSR1);
}

static int by_poll(void) { return poll(NULL, 0, -1); }
static int by_select(void) { return select(0, NULL, NULL, NULL, NULL); }
static int by_epoll_wait(void)
{
    struct epoll_event event;
    return epoll_wait(epoll_create1(0), &event, 1, -1);
}
static int by_nanosleep(void)
{
    struct timespec time = {600, 0};
    return nanosleep(&time, NULL);
}
static int by_sleep(void)
{
    unsigned left = sleep(600);
    errno = EINTR;
    return left > 500 ? -1 : 0;
}

static const struct { const char *name; int (*wait)(void); } ways[] = {
    {"poll", by_poll}, {"select", by_select}, {"epoll_wait", by_epoll_wait},
    {"nanosleep", by_nanosleep}, {"sleep", by_sleep},
};
enum { WAYS = sizeof ways / sizeof *ways };

static void child(size_t way)
{
    struct sigaction action = {.sa_handler = on_signal};
    CHECKED(sigaction(SIGUSR1, &action, NULL) == 0);
    action = (struct sigaction){.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    CHECKED(sigaction(SIGSYS, &action, NULL) == 0);
    static const int trap[] = {SYS_madvise};
    install_filter(trap, 1, SECCOMP_RET_TRAP, SECCOMP_RET_ALLOW);
    static void *blocks[20000];
    for (size_t i = 0; i < 20000; i++) {
        blocks[i] = malloc(1000);
        memset(blocks[i], 1, 1000);
    }
    for (size_t i = 0; i < 20000; i++)
        free(blocks[i]);
    hang_limit_seconds(20);
    int result = ways[way].wait();
    CHECK(result == -1 && errno == EINTR, "%s gave %d, errno %d", ways[way].name, result, errno);
    CHECK(trapped > 0 && signals == 1, "%d traps, %d signals", (int)trapped, (int)signals);
    _exit(0);
}

int main(void)
{
    pid_t pids[WAYS];
    for (size_t way = 0; way < WAYS; way++) {
        pids[way] = fork();
        if (pids[way] == 0)
            child(way);
    }
    for (size_t way = 0; way < WAYS; way++)
        expect_child_ok(pids[way], ways[way].name);
    return 0;
}
