/* What the guard tells the user: a misuse with its stacks. guard_leaks.c has what it tells at the
 * end of the process.
 *
 * Nothing here allocates but the demangler, which is served by the system allocator. No lock of the
 * guard is held. */
#include "core.h"
#include "files.h"
#include "guard_print.h"
#include "stack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    DUPLICATE_FD = 500, /* out of the way of programs that expect low numbers */
    WAIT_STEPS = 200,   /* for another thread to finish its message, 10 ms each */
};

static struct {
    int duplicate; /* of stderr, -1: none */
    dev_t device;
    ino_t inode;
} error_output = {.duplicate = -1};

static atomic_flag printing = ATOMIC_FLAG_INIT;
static atomic_bool failed;

/* ---- writing ---- */

void granary_print_start(void)
{
    struct stat status;
    int saved = errno;
    if (fstat(STDERR_FILENO, &status) == 0) {
        error_output.device = status.st_dev;
        error_output.inode = status.st_ino;
        error_output.duplicate = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, DUPLICATE_FD);
    }
    errno = saved;
}

void granary_print_after_fork_child(void)
{
    /* A daemon's children must not keep the pipe of whoever started it open. */
    if (error_output.duplicate >= 0)
        file_close(error_output.duplicate);
    error_output.duplicate = -1;
}

/* Stderr as the program has it now; if it was closed, as it was at the start. The number may belong
 * to something else by then. */
static int error_fd(void)
{
    struct stat status;
    if (fcntl(STDERR_FILENO, F_GETFD) >= 0)
        return STDERR_FILENO;
    if (error_output.duplicate >= 0 && fstat(error_output.duplicate, &status) == 0
        && status.st_dev == error_output.device && status.st_ino == error_output.inode)
        return error_output.duplicate;
    return -1;
}

static void nap(void)
{
    /* The system call itself: the library's nanosleep sweeps. */
    struct timespec time = {.tv_nsec = 10 * 1000 * 1000};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

/* Writes a line, or part of one: like printf, at most LINE_BYTES. */
enum { LINE_BYTES = 1600 };

void granary_print(const char *format, ...)
{
    static char text[LINE_BYTES]; /* static: threads may have small stacks; printing is in turns */
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length > LINE_BYTES - 1)
        length = LINE_BYTES - 1;
    int fd = error_fd();
    for (int done = 0, tries = 0; done < length && tries < WAIT_STEPS;) {
        ssize_t written = file_write(fd, text + done, (size_t)(length - done));
        if (written > 0)
            done += (int)written;
        else if (written < 0 && errno == EAGAIN)
            nap(), tries++;
        else if (written == 0 || errno != EINTR)
            return;
    }
}

/* ---- stacks ---- */

static struct code_place place; /* static for the same reason */

/* "allocated at main+0x1f", for the first line. */
static void put_short(const char *what, uint32_t stack, uint32_t thread)
{
    uint32_t count = 0;
    const uintptr_t *frames = core_guard_stack(stack, &count);
    for (uint32_t i = 0; i < count; i++) {
        granary_stack_describe(frames[i], &place);
        if (place.own)
            continue;
        if (place.function[0] != '\0')
            granary_print(", %s at %s+0x%zx", what, place.function, place.offset);
        else
            granary_print(", %s at %p", what, (void *)frames[i]);
        break;
    }
    if (thread != 0)
        granary_print(" by thread %u", thread);
}

void granary_print_frames(uint32_t stack)
{
    uint32_t count = 0, number = 0;
    const uintptr_t *frames = core_guard_stack(stack, &count);
    if (count == 0)
        granary_print("    (stack unknown)\n");
    for (uint32_t i = 0; i < count; i++) {
        granary_stack_describe(frames[i], &place);
        if (place.own && number == 0)
            continue;
        granary_print("    #%u %p ", number++, (void *)frames[i]);
        if (place.function[0] != '\0')
            granary_print("%s+0x%zx", place.function, place.offset);
        else
            granary_print("??");
        if (place.object != NULL)
            granary_print(" (%s+0x%zx)\n", place.object, place.object_offset);
        else
            granary_print(" (unknown object)\n");
    }
}

static void put_section(const char *heading, uint32_t stack)
{
    granary_print("  %s:\n", heading);
    granary_print_frames(stack);
}

/* ---- findings ---- */

static const char *const calls[] = {"malloc", "free", "realloc", "malloc_usable_size", "exit"};

static void put_what(const struct finding *f)
{
    const char *call = calls[f->call];
    switch (f->what) {
    case FOUND_FREED_TWICE:
        granary_print("granary: %s(%p): block was already freed", call, f->block);
        break;
    case FOUND_WRITTEN_FREED:
        granary_print("granary: %s: block %p was written to after it was freed", call, f->block);
        break;
    case FOUND_INSIDE:
        granary_print("granary: %s(%p): pointer is inside a block, %zu bytes after its start %p",
                      call, f->block, (size_t)(f->block - f->start), f->start);
        break;
    case FOUND_PAST_END:
        if (f->call == CALL_EXIT)
            granary_print("granary: %s: block %p was written past its end", call, f->block);
        else
            granary_print("granary: %s(%p): block was written past its end", call, f->block);
        break;
    case FOUND_WRONG_SIZE:
        granary_print("granary: %s(%p): block was freed as one of %zu bytes, "
                      "but %zu were asked for", call, f->block, f->given, f->asked);
        break;
    default:
        granary_print("granary: %s(%p): pointer lies in Granary's range but is not a block", call,
                      f->block);
    }
}

static void put_details(const struct finding *f, bool stacks)
{
    bool freed = f->freed != 0;
    bool threads = freed && f->alloc_thread != f->free_thread;
    if (f->class_bytes != 0)
        granary_print(" (class %zu", f->class_bytes);
    else
        granary_print(" (normal tier");
    if (f->what == FOUND_WRITTEN_FREED)
        granary_print(", offset %zu", f->offset);
    granary_print(", asked for %zu bytes", f->asked);
    if (f->what == FOUND_PAST_END)
        granary_print(", changed from offset %zu on", f->offset);
    if (stacks) {
        put_short("allocated", f->alloc_stack, threads ? f->alloc_thread : 0);
        if (freed)
            put_short("freed", f->free_stack, threads ? f->free_thread : 0);
        granary_print(")\n");
    } else {
        granary_print("); run with GRANARY_DEBUG_ALLOC=1 to see where\n");
    }
}

void granary_print_begin(void)
{
    for (int i = 0; atomic_flag_test_and_set(&printing) && i < WAIT_STEPS; i++)
        nap();
}

void granary_print_end(void) { atomic_flag_clear(&printing); }

void granary_print_finding(const struct finding *f, bool stacks)
{
    granary_print_begin();
    atomic_store(&failed, true);
    put_what(f);
    if (f->what == FOUND_NO_BLOCK)
        granary_print(stacks ? "\n" : "; run with GRANARY_DEBUG_ALLOC=1 to see where\n");
    else
        put_details(f, stacks);
    if (stacks && f->what != FOUND_NO_BLOCK) {
        put_section("allocated at", f->alloc_stack);
        if (f->freed != 0)
            put_section("freed at", f->free_stack);
    }
    if (stacks && f->call != CALL_EXIT)
        put_section(f->what == FOUND_FREED_TWICE && f->call == CALL_FREE ? "freed again at"
                                                                          : "found at",
                    f->now_stack);
    granary_print_end();
}

bool granary_print_failed(void) { return atomic_load(&failed); }
