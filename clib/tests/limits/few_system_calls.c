// A sandbox that is put on after the first malloc and allows only what glibc's malloc and its
// threads need: the library makes no other call, on any path. The call that would have killed the
// program is named.
// covers: 12
// also: GRANARY_DEBUG_ALLOC_STATS=1
// also: GRANARY_ALLOC_RELEASE=0
#include "test.h"
#include "limits/seccomp.h"
#include <malloc.h>
#include <signal.h>

static void on_refused(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    char text[] = "the sandbox met system call 0000\n";
    int call = info->si_syscall;
    for (size_t i = sizeof text - 3; call; call /= 10)
        text[i--] = (char)('0' + call % 10);
    ssize_t written = write(2, text, sizeof text - 1);
    (void)written;
    syscall(SYS_exit_group, 3); // not _exit, which the library may stand in for
}

static void *use(void *unused)
{
    enum { BLOCKS = 20000 };
    static __thread void *blocks[BLOCKS];
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < BLOCKS; i++)
            blocks[i] = malloc(i % 100 == 0 ? 50000 : i % 2000);
        for (size_t i = 0; i < BLOCKS; i++)
            blocks[i] = realloc(blocks[i], 1 + i % 3000);
        for (size_t i = 0; i < BLOCKS; i++)
            free(blocks[i]);
        malloc_trim(0);
    }
    void *large = malloc(40 * MIB);
    large = realloc(large, 80 * MIB);
    free(large);
    return unused;
}

int main(void)
{
    static const int allowed[] = {
        // malloc
        SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_futex,
        // glibc counts the processors when it makes arenas for threads
        SYS_sched_getaffinity,
        // and reads a setting of the system before it shrinks one
        SYS_openat, SYS_read, SYS_close,
        // starting and ending threads and the process
        SYS_clone, SYS_clone3, SYS_set_robust_list, SYS_rseq, SYS_rt_sigprocmask, SYS_exit,
        SYS_exit_group, SYS_rt_sigreturn, SYS_rt_sigaction,
        // this test's messages, and closing the standard streams
        SYS_write, SYS_lseek,
        // the leak report of the debug mode asks whether stderr is still open
        SYS_fcntl,
    };
    struct sigaction action = {.sa_sigaction = on_refused, .sa_flags = SA_SIGINFO};
    CHECKED(sigaction(SIGSYS, &action, NULL) == 0);
    free(malloc(100));
    install_filter(allowed, sizeof allowed / sizeof *allowed, SECCOMP_RET_ALLOW, SECCOMP_RET_TRAP);
    use(NULL);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        start_thread(&threads[i], use, NULL);
    for (int i = 0; i < 3; i++)
        join_thread(threads[i]);
    return 0;
}
