/* Small things that all files use: memory of our own, futexes, messages. */
#include "collector.h"
#include "files.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int granary_gc_futex_wait(void *word, uint32_t value, uint64_t nanoseconds)
{
    struct timespec limit = {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
    int saved = errno;
    long failed = syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, nanoseconds == 0 ? NULL : &limit, NULL, 0);
    int why = failed == 0 ? 0 : errno;
    errno = saved;
    return why;
}

void granary_gc_futex_wake(void *word, int count)
{
    int saved = errno;
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
    errno = saved;
}

static uint32_t processors;
static _Atomic uint32_t spinning;

/* The first thread may use more of them than one that is bound later. */
void granary_gc_spin_start(void) { processors = granary_gc_processors(); }

/* One processor at least is left for whom they wait. */
bool granary_gc_spin_while(_Atomic uint32_t *word, uint32_t value)
{
    enum { NANOSECONDS = 50000, LOOKS = 16 }; /* looks at the word between two at the clock */
    bool changed = false;
    if (atomic_fetch_add(&spinning, 1) + 1 < processors)
        for (uint64_t end = granary_sys_now() + NANOSECONDS; !changed && granary_sys_now() < end;)
            for (int look = 0; look < LOOKS && !(changed = atomic_load(word) != value); look++)
                granary_sys_cpu_relax();
    atomic_fetch_sub(&spinning, 1);
    return changed || atomic_load(word) != value;
}

/* Threads that were at it as the process was copied are not in the child. */
void granary_gc_spin_after_fork(void) { atomic_store(&spinning, 0); }

/* Not the program's malloc: that may be GC_malloc. */
void *granary_gc_pages(size_t bytes)
{
    int saved = errno;
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = saved;
    return pages == MAP_FAILED ? NULL : pages;
}

bool granary_gc_room(void **array, size_t *capacity, size_t count, size_t element_bytes)
{
    if (count < *capacity)
        return true;
    size_t bytes = *capacity * element_bytes;
    size_t larger = bytes == 0 ? 4096 : bytes * 2;
    void *fresh = granary_gc_pages(larger);
    if (fresh == NULL)
        return false;
    if (bytes != 0) {
        memcpy(fresh, *array, bytes);
        munmap(*array, bytes);
    }
    *array = fresh;
    *capacity = larger / element_bytes;
    return true;
}

static void write_all(int fd, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t n = file_write(fd, text, length);
        if (n < 0 && errno != EINTR)
            return;
        if (n > 0) {
            text += n;
            length -= (size_t)n;
        }
    }
}

static void print(int fd, const char *format, va_list arguments)
{
    char text[1024];
    int saved = errno;
    int length = vsnprintf(text, sizeof text, format, arguments);
    if (length > (int)sizeof text - 1)
        length = (int)sizeof text - 1;
    if (length > 0)
        write_all(fd, text, (size_t)length);
    errno = saved;
}

void granary_gc_log(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print(granary_gc_options.log_fd, format, arguments);
    va_end(arguments);
}

void GC_printf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print(STDOUT_FILENO, format, arguments);
    va_end(arguments);
}

void GC_err_printf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print(STDERR_FILENO, format, arguments);
    va_end(arguments);
}

void GC_log_printf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print(granary_gc_options.log_fd, format, arguments);
    va_end(arguments);
}

/* A warning procedure gets a format with one word, as in bdwgc. */
void granary_gc_warn(const char *format, GC_word argument)
{
    GC_warn_proc warn = GC_get_warn_proc();
    if (warn != NULL)
        warn((char *)format, argument);
}

_Noreturn void granary_gc_abort(const char *message)
{
    if (GC_on_abort != NULL)
        GC_on_abort(message);
    if (granary_gc_options.aborts_loop)
        for (;;)
            pause();
    abort();
}
