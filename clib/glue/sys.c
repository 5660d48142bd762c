/* The core's system calls. They are made directly and not through the libc: other preloaded libraries interpose mmap
 * and madvise with functions that allocate, and errno must stay as the program left it. */
#include "core.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
static long raw6(long number, long a, long b, long c, long d, long e, long f)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
static long raw6(long number, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}
#else
#error "granary: this machine's system calls are not known; add them to clib/glue/sys.c"
#endif

static bool failed(long result) { return result < 0 && result > -4096; }

size_t granary_sys_page_bytes(void)
{
    static size_t bytes;
    if (UNLIKELY(bytes == 0))
        bytes = (size_t)getpagesize();
    return bytes;
}

uintptr_t granary_sys_reserve(size_t bytes)
{
    long result = raw6(SYS_mmap, 0, (long)bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return failed(result) ? 0 : (uintptr_t)result;
}

bool granary_sys_commit(uintptr_t address, size_t bytes)
{
    return !failed(raw6(SYS_mprotect, (long)address, (long)bytes, PROT_READ | PROT_WRITE, 0, 0, 0));
}

/* Where madvise is refused (a seccomp filter) or does not work (locked memory), fresh pages are mapped over. */
bool granary_sys_decommit(uintptr_t address, size_t bytes)
{
    if (!failed(raw6(SYS_madvise, (long)address, (long)bytes, MADV_DONTNEED, 0, 0, 0)))
        return true;
    return !failed(raw6(SYS_mmap, (long)address, (long)bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0));
}

/* 0: done, 1: somebody else has some of these addresses, 2: the system refuses. Linux before 4.17
 * does not know the flag and takes the address for a wish. */
int32_t granary_sys_map_at(uintptr_t address, size_t bytes)
{
    long result = raw6(SYS_mmap, (long)address, (long)bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (failed(result))
        return result == -EEXIST ? 1 : 2;
    if ((uintptr_t)result == address)
        return 0;
    raw6(SYS_munmap, result, (long)bytes, 0, 0, 0, 0);
    return 1;
}

void granary_sys_release(uintptr_t address, size_t bytes)
{
    raw6(SYS_munmap, (long)address, (long)bytes, 0, 0, 0, 0);
}

size_t granary_sys_address_space_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    return (size_t)limit.rlim_cur;
}

uint64_t granary_sys_now(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        return 1;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void granary_sys_lock_wait(void *word, uint32_t value)
{
    raw6(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, (long)value, 0, 0, 0);
}

void granary_sys_lock_wake(void *word) { raw6(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0); }

void granary_sys_clear(void *to, size_t bytes) { memset(to, 0, bytes); }

void granary_sys_copy(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }

void granary_sys_move(void *to, const void *from, size_t bytes) { memmove(to, from, bytes); }

void granary_sys_cpu_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    __asm__ volatile("yield");
#endif
}

void granary_sys_compiler_barrier(void) { __asm__ volatile("" ::: "memory"); }

uintptr_t granary_sys_opaque(uintptr_t address)
{
    __asm__ volatile("" : "+r"(address));
    return address;
}

void granary_sys_prefetch(uintptr_t address) { __builtin_prefetch((const void *)address); }

void granary_sys_prefetch_bytes(uintptr_t address)
{
    enum { BYTES = 256, LINE = 64 }; /* sys.PrefetchedBytes */
    for (uintptr_t at = 0; at < BYTES; at += LINE)
        __builtin_prefetch((const void *)(address + at));
}

/* The compiler does not make this instruction for every x86-64, but all those take it, if only as no operation. */
void granary_sys_prefetch_write(uintptr_t address)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)address));
#else
    __builtin_prefetch((const void *)address, 1);
#endif
}

uint32_t granary_sys_cpus(void)
{
    unsigned long set[16] = {0}; /* of 1024 processors; the system refuses a smaller set than it has */
    long bytes = raw6(SYS_sched_getaffinity, 0, sizeof set, (long)set, 0, 0, 0);
    uint32_t count = 0;
    for (size_t i = 0; bytes > 0 && i < sizeof set / sizeof set[0]; i++)
        count += (uint32_t)__builtin_popcountl(set[i]);
    return count > 0 ? count : 1;
}

void granary_sys_yield(void) { raw6(SYS_sched_yield, 0, 0, 0, 0, 0, 0); }
