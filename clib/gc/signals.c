/* The signal that stops a thread.
 *
 * Its handler may run beside a Go runtime, on an alternate stack (SA_ONSTACK), and calls are restarted (SA_RESTART).
 * A signal of ours carries our mark; the program's own ones of the same number go on to the program's handler.
 *
 * A thread may block the signal, or wait for all signals in sigwait. Such a thread gets signal 33 instead, which the
 * libc keeps for itself and lets no program block or wait for; what the libc sends by that number goes on to the
 * libc's handler, which is put back into place behind ours.
 *
 * Both are real-time signals: while the user's queue of signals is full (RLIMIT_SIGPENDING) the kernel sends none.
 * Then it is SIGURG, without our mark: signals below 32 need no place in the queue, and it does nothing by default. */
#include "collector.h"
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LIBC_SIGNAL = 33, DEFAULT_ABOVE_LEAST = 9, UNQUEUED_SIGNAL = SIGURG };

struct kernel_action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

int granary_gc_signal; /* 0: not chosen yet */
static struct sigaction programs_action;   /* what the program has for our signal */
static struct sigaction programs_unqueued; /* and for the one without a queue */
static struct kernel_action libcs_action;
static int mark; /* our signals carry its address */

static void on_signal(int number, siginfo_t *info, void *context);

static bool is_ours(const siginfo_t *info)
{
    struct gc_thread *self = granary_gc_local.self;
    if (info->si_code == SI_QUEUE)
        return info->si_value.sival_ptr == &mark;
    bool bare = info->si_code == SI_TKILL ? info->si_pid == granary_gc_process()
                                          : info->si_code == SI_USER && info->si_pid == 0;
    return info->si_signo == UNQUEUED_SIGNAL && bare && self != NULL && atomic_exchange(&self->bare_signal, false);
}

static void pass_on(int number, siginfo_t *info, void *context)
{
    const struct sigaction *programs = number == granary_gc_signal ? &programs_action : &programs_unqueued;
    if (number == LIBC_SIGNAL) {
        if ((uintptr_t)libcs_action.handler > 1)
            libcs_action.handler(number, info, context);
    } else if ((programs->sa_flags & SA_SIGINFO) != 0) {
        programs->sa_sigaction(number, info, context);
    } else if (programs->sa_handler != SIG_DFL && programs->sa_handler != SIG_IGN) {
        programs->sa_handler(number);
    }
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    int saved = errno;
    if (!is_ours(info)) {
        pass_on(number, info, context);
    } else {
        granary_gc_answer_signal(context, (int)syscall(SYS_gettid));
        granary_gc_restart_call(context);
    }
    errno = saved;
}

/* The program may have taken the signal since: then its handler comes behind ours. */
static void take_signal(int number, struct sigaction *programs)
{
    struct sigaction now;
    if (sigaction(number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_signal)
        return;
    *programs = now;
    struct sigaction ours = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    ours.sa_sigaction = on_signal;
    sigfillset(&ours.sa_mask); /* no other handler runs in a thread that is stopped */
    if (sigaction(number, &ours, NULL) != 0)
        granary_fatal("granary: cannot set up signal %d to stop threads for a collection; "
                      "choose another one with GC_set_suspend_signal\n", number);
}

#if defined(__x86_64__)
/* The libc's sigaction refuses its own signal, so the kernel is asked, which wants this. */
__asm__(".pushsection .text\n"
        ".type granary_gc_return_from_signal, @function\n"
        "granary_gc_return_from_signal:\n"
        "\tmov $15, %eax\n"
        "\tsyscall\n"
        ".size granary_gc_return_from_signal, . - granary_gc_return_from_signal\n"
        ".popsection\n");
extern void granary_gc_return_from_signal(void) __attribute__((visibility("hidden")));
#define RESTORER granary_gc_return_from_signal
#define RESTORER_FLAG 0x04000000ul
#else
#define RESTORER NULL
#define RESTORER_FLAG 0ul
#endif

static void take_libcs_signal(void)
{
    struct kernel_action now;
    if (syscall(SYS_rt_sigaction, LIBC_SIGNAL, NULL, &now, sizeof now.mask) == 0 && now.handler == on_signal)
        return;
    libcs_action = now;
    struct kernel_action ours = {on_signal, SA_SIGINFO | SA_ONSTACK | SA_RESTART | RESTORER_FLAG, RESTORER,
                                 ~(uint64_t)0};
    syscall(SYS_rt_sigaction, LIBC_SIGNAL, &ours, NULL, sizeof ours.mask);
}

int granary_gc_default_signal(void) { return SIGRTMIN + DEFAULT_ABOVE_LEAST; }

/* Called before each stop. */
void granary_gc_signals_start(void)
{
    if (granary_gc_signal == 0)
        granary_gc_signal = granary_gc_default_signal();
    take_signal(granary_gc_signal, &programs_action);
}

bool granary_gc_send_stop(struct gc_thread *thread)
{
    int number = granary_gc_signal;
    if (thread->blocks_signal) {
        take_libcs_signal();
        number = LIBC_SIGNAL;
    }
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_code = SI_QUEUE;
    info.si_pid = granary_gc_process();
    info.si_uid = getuid();
    info.si_value.sival_ptr = &mark;
    if (syscall(SYS_rt_tgsigqueueinfo, info.si_pid, thread->tid, number, &info) == 0)
        return true;
    if (errno != EAGAIN)
        return errno != ESRCH;
    take_signal(UNQUEUED_SIGNAL, &programs_unqueued); /* the queue is full */
    atomic_store(&thread->bare_signal, true);
    return syscall(SYS_tgkill, info.si_pid, thread->tid, UNQUEUED_SIGNAL) == 0 || errno != ESRCH;
}

struct deafness {
    uint64_t mask;   /* signals that the thread blocks */
    bool queue_full; /* the user's */
};

/* As the kernel tells. */
static bool read_deafness(const struct gc_thread *thread, struct deafness *deafness)
{
    char path[64], text[2048];
    snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)thread->tid);
    int fd = file_open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = file_read(fd, text, sizeof text - 1);
    file_close(fd);
    text[length > 0 ? length : 0] = '\0';
    const char *field = strstr(text, "SigBlk:");
    deafness->mask = field == NULL ? 0 : strtoull(field + strlen("SigBlk:"), NULL, 16);
    unsigned long queued = 0, most = 1;
    field = strstr(text, "SigQ:");
    deafness->queue_full = field != NULL && sscanf(field, "SigQ: %lu/%lu", &queued, &most) == 2 && queued >= most;
    return true;
}

static bool is_in(uint64_t mask, int number) { return (mask >> (number - 1) & 1) != 0; }

/* If the kernel does not tell, it may: the other signal does no harm. */
bool granary_gc_thread_blocks_signal(const struct gc_thread *thread)
{
    struct deafness deafness;
    return !read_deafness(thread, &deafness) || is_in(deafness.mask, granary_gc_signal);
}

bool granary_gc_thread_is_deaf(const struct gc_thread *thread)
{
    struct deafness deafness;
    if (!read_deafness(thread, &deafness) || !is_in(deafness.mask, granary_gc_signal))
        return false;
    return is_in(deafness.mask, deafness.queue_full ? UNQUEUED_SIGNAL : LIBC_SIGNAL);
}
