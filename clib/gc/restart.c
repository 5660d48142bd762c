/* Keeps EINTR away from the program.
 *
 * The kernel does not restart some calls behind a handler, whatever SA_RESTART says: poll, epoll_wait, select,
 * nanosleep. If such a call was interrupted by our signal alone, it is made again here, by setting the thread back to
 * the instruction. That is right where the call waits without a limit, or until a point in time, or where the kernel
 * has told the time that was left. Other calls return EINTR as they do with any signal.
 *
 * A signal of the program that came meanwhile must be seen: then the call returns EINTR too. */
#include "collector.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)

enum { LOAD_EAX = 0xb8, SYSCALL_BYTES = 2, LOAD_BYTES = 5, PAGE_BYTES = 4096 };

/* The number of the call that was interrupted, from the libc's "mov $number, %eax; syscall", or -1. */
static long interrupted_call(const greg_t *registers)
{
    const unsigned char *at = (const unsigned char *)registers[REG_RIP];
    if (((uintptr_t)at & (PAGE_BYTES - 1)) < SYSCALL_BYTES + LOAD_BYTES) /* the page before may not be there */
        return -1;
    if (registers[REG_RAX] != -EINTR || at[-2] != 0x0f || at[-1] != 0x05 || at[-SYSCALL_BYTES - LOAD_BYTES] != LOAD_EAX)
        return -1;
    int32_t number;
    memcpy(&number, at - SYSCALL_BYTES - LOAD_BYTES + 1, sizeof number);
    return number;
}

static bool may_restart(long number, greg_t *registers)
{
    switch (number) {
    case SYS_poll:
        return (int)registers[REG_RDX] < 0;
    case SYS_ppoll:
        return registers[REG_RDX] == 0;
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
        return (int)registers[REG_R10] < 0;
    case SYS_epoll_pwait2:
        return registers[REG_R10] == 0;
    case SYS_select:
    case SYS_pselect6:
        return registers[REG_R8] == 0;
    case SYS_rt_sigtimedwait:
        return registers[REG_RDX] == 0;
    case SYS_nanosleep:
        if (registers[REG_RSI] == 0)
            return false;
        registers[REG_RDI] = registers[REG_RSI]; /* what is left of the time */
        return true;
    case SYS_clock_nanosleep:
        if ((registers[REG_RSI] & TIMER_ABSTIME) != 0)
            return true;
        if (registers[REG_R10] == 0)
            return false;
        registers[REG_RDX] = registers[REG_R10];
        return true;
    default:
        return false;
    }
}

/* Whether a signal waits that the thread will get as soon as we return. */
static bool other_signal_waits(const ucontext_t *context)
{
    uint64_t waiting = 0, masked;
    if (syscall(SYS_rt_sigpending, &waiting, sizeof waiting) != 0)
        return true;
    memcpy(&masked, &context->uc_sigmask, sizeof masked);
    return (waiting & ~masked) != 0;
}

void granary_gc_restart_call(ucontext_t *context)
{
    greg_t *registers = context->uc_mcontext.gregs;
    long number = interrupted_call(registers);
    if (number < 0 || other_signal_waits(context) || !may_restart(number, registers))
        return;
    registers[REG_RAX] = number;
    registers[REG_RIP] -= SYSCALL_BYTES;
}

#else

/* Elsewhere the first argument is lost when the call returns. */
void granary_gc_restart_call(ucontext_t *context) { (void)context; }

#endif
