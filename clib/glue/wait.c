/* Where a program waits, Granary looks for memory to give back. The functions in wait_poll.c,
 * wait_sleep.c and wait_lock.c have the names of the libc's and wait as they do. While there is
 * memory that will soon be old enough, they wait in pieces, so that a process that goes to sleep
 * for an hour right after it freed everything holds nothing after a second. When nothing is left
 * to give back the rest of the wait is one call.
 *
 *  1. granary_wait_look: one reading of the clock. Nothing to do before the wait ends: the libc's
 *     function, by a jump.
 *  2. granary_wait_in_pieces: if no sweep is due yet, a look whether the wait is over already.
 *  3. Signals are blocked, the sweep runs, and the piece is waited for by a call that takes the
 *     caller's mask (ppoll, pselect, epoll_pwait). So a signal that comes during the sweep or
 *     between two pieces ends the wait with EINTR, as if the thread had been in the libc's call
 *     all the time.
 *  4. Until the time is over, an event or a signal comes: on with 3.
 *
 * A thread that is cancelled in a piece unwinds with the signals blocked; the process's other
 * threads take them. Semaphores have no call with a mask: what came during the sweep is looked for
 * after it. */
#include "wait.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

uint64_t core_next_look(uint64_t now, uint64_t quiet) CORE_HEAP("ProcessNextLook");

static const uint64_t RELEASE_AGE = SECOND;

static uint64_t quiet; /* the time of the last sweep that left nothing to come back for */
static bool refused;   /* the system refused a call with a mask: no pieces any more */

/* Returns the bytes given back; *wake is the time to look again, 0: not necessary. */
static size_t sweep(uint64_t now, uint64_t age, uint64_t *wake)
{
    struct granary_idle_result result = {0};
    int saved = errno;
    core_idle(now, age, &result);
    errno = saved;
    *wake = result.wake;
    if (result.wake == 0)
        __atomic_store_n(&quiet, now, __ATOMIC_RELAXED);
    if (result.runs != 0 && granary_options.trace_release)
        granary_message("granary: release: %llu spans (%llu bytes) given back at %llu.%03llu s, "
                        "the longest empty for %llu.%03llu s\n",
                        (unsigned long long)result.runs, (unsigned long long)result.bytes,
                        (unsigned long long)(now / SECOND),
                        (unsigned long long)(now % SECOND / MILLISECOND),
                        (unsigned long long)(result.longest / SECOND),
                        (unsigned long long)(result.longest % SECOND / MILLISECOND));
    return result.bytes;
}

struct granary_look granary_wait_look(void)
{
    struct granary_look look = {0, 0};
    bool off = (granary_options.mode & (MODE_SYSTEM | MODE_GUARD | MODE_KEEP_SPANS)) != 0;
    if (off || !granary_options.started || __atomic_load_n(&refused, __ATOMIC_RELAXED))
        return look;
    look.now = granary_sys_now();
    look.wake = core_next_look(look.now, __atomic_load_n(&quiet, __ATOMIC_RELAXED));
    return look;
}

void granary_wait_once(void)
{
    struct granary_look look = granary_wait_look();
    if (look.wake != 0 && look.wake <= look.now)
        sweep(look.now, RELEASE_AGE, &look.wake);
}

EXPORT size_t granary_idle(void)
{
    uint64_t wake;
    if (!granary_options.started)
        return 0;
    return sweep(granary_sys_now(), RELEASE_AGE, &wake);
}

void core_guard_give_up_quarantine(void) CORE_GUARD("ProcessGiveUpQuarantine");

EXPORT size_t granary_trim(void)
{
    uint64_t wake;
    if (!granary_options.started)
        return 0;
    if (granary_options.guard)
        core_guard_give_up_quarantine();
    return sweep(granary_sys_now(), 0, &wake);
}

uint64_t granary_wait_rest(const struct granary_wait *wait)
{
    if (wait->total == FOR_EVER)
        return FOR_EVER;
    uint64_t gone = granary_sys_now() - wait->look.now;
    return gone < wait->total ? wait->total - gone : 0;
}

/* Blocks the signals that a program handles. Not those that a fault of the thread itself raises:
 * blocked, they would end the process. The libc leaves its own out. */
static void block_signals(sigset_t *before)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigset_t all;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_BLOCK, &all, before);
}

static bool has_handler(int number)
{
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_DFL &&
           action.sa_handler != SIG_IGN;
}

/* Whether a handler will run as soon as the caller's mask is in force again. Signals without one
 * are let through here: while blocked they wait even if the program ignores them, and epoll_pwait
 * would take them for an interruption. */
static bool is_interrupted(const sigset_t *mask)
{
    sigset_t pending, others;
    bool handled = false, any = false;
    if (sigpending(&pending) != 0)
        return false;
    sigemptyset(&others);
    for (int number = 1; number < NSIG; number++) {
        if (sigismember(&pending, number) != 1 || sigismember(mask, number) == 1)
            continue;
        if (has_handler(number)) {
            handled = true;
        } else {
            sigaddset(&others, number);
            any = true;
        }
    }
    if (any) {
        pthread_sigmask(SIG_UNBLOCK, &others, NULL);
        pthread_sigmask(SIG_BLOCK, &others, NULL);
    }
    return handled;
}

/* Sweeps before a piece. Returns false if a signal came that the call of the piece would not
 * notice. */
static bool sweep_before_piece(struct granary_wait *wait, uint64_t now)
{
    if (!wait->atomic)
        block_signals(&wait->caller);
    sweep(now, RELEASE_AGE, &wait->look.wake);
    bool interrupted = is_interrupted(wait->atomic ? wait->mask : &wait->caller);
    if (!wait->atomic)
        pthread_sigmask(SIG_SETMASK, &wait->caller, NULL);
    return wait->atomic || !interrupted;
}

static void pieces(struct granary_wait *wait)
{
    for (;;) {
        uint64_t now = granary_sys_now();
        if (wait->look.wake <= now && !sweep_before_piece(wait, now)) {
            wait->result = -1;
            wait->error = EINTR;
            return;
        }
        uint64_t rest = granary_wait_rest(wait), wake = wait->look.wake;
        wait->last = wake == 0 || (wake > now && wake - now >= rest);
        struct timespec length = granary_timespec(wait->last ? rest : wake > now ? wake - now : 1);
        if (wait->piece(wait, wait->last && rest == FOR_EVER ? NULL : &length) || wait->last)
            return;
    }
}

static void restore_mask(void *caller) { pthread_sigmask(SIG_SETMASK, caller, NULL); }

/* The pieces with signals blocked in between. A thread that is cancelled in one of them runs its clean-up handlers with
 * the mask that it had. */
static void pieces_with_mask(struct granary_wait *wait)
{
    block_signals(&wait->caller);
    if (wait->mask == NULL)
        wait->mask = &wait->caller;
    pthread_cleanup_push(restore_mask, &wait->caller);
    pieces(wait);
    pthread_cleanup_pop(1);
}

bool granary_wait_in_pieces(struct granary_wait *wait)
{
    static const struct timespec none = {0, 0};
    wait->last = false;
    if (!wait->atomic) {
        pieces(wait);
        errno = wait->result != 0 ? wait->error : errno;
        return true;
    }
    /* A server with work to do finds it here, and signals need not be blocked. */
    if (wait->look.wake > wait->look.now && wait->total != 0 && wait->piece(wait, &none))
        goto over;
    pieces_with_mask(wait);
over:
    if (wait->result < 0 && (wait->error == ENOSYS || wait->error == EPERM)) {
        __atomic_store_n(&refused, true, __ATOMIC_RELAXED);
        return false;
    }
    if (wait->result < 0)
        errno = wait->error;
    return true;
}
