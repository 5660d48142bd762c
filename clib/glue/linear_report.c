/* The usage report of a linear allocator and of its stacks, in the format that Unity prints. */
#include "linear.h"
#include "files.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

const char *granary_stack_name(const granary_stack *stack);

struct text {
    int fd;
    int failed; /* errno of a write */
};

__attribute__((format(printf, 2, 3))) static void put(struct text *out, const char *format, ...)
{
    char line[600];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof line)
        length = (int)sizeof line - 1;
    for (int done = 0; out->failed == 0 && done < length;) {
        ssize_t n = file_write(out->fd, line + done, (size_t)(length - done));
        if (n >= 0)
            done += (int)n;
        else if (errno != EINTR)
            out->failed = errno;
    }
}

/* A number as the report has it: in a unit from half of it on. */
struct printed {
    char text[32];
};

static struct printed bytes_of(uint64_t n)
{
    struct printed p;
    if (n < 512)
        snprintf(p.text, sizeof p.text, "%u B", (unsigned)n);
    else if (n < 512 << 10)
        snprintf(p.text, sizeof p.text, "%.1f KB", (double)n / (1 << 10));
    else if (n < 512 << 20)
        snprintf(p.text, sizeof p.text, "%.1f MB", (double)n / (1 << 20));
    else
        snprintf(p.text, sizeof p.text, "%.2f GB", (double)n / (1 << 30));
    return p;
}

static void put_summary(struct text *out, const struct linear *l, const granary_linear_stats *s)
{
    put(out,
        "granary: linear %s: %lu of at most %lu blocks in use, %lu at one time; reserved %s of at most %s (%lu blocks "
        "of %s, each up to %lu times as large)\n",
        l->name, s->blocks_used, s->blocks_most, s->blocks_peak, bytes_of(s->reserved_bytes).text,
        bytes_of(s->reserved_most_bytes).text, s->blocks_most, bytes_of(s->block_bytes).text,
        s->request_most_bytes / s->block_bytes);
    put(out, "granary: linear %s: frame %lu; alive %lu, and %lu on the heap", l->name, s->frame, s->live,
        s->overflows_live);
    if (l->max_age != 0)
        put(out, "; %lu became older than %u frames, %lu of them freed late, %lu not freed", s->overdue, l->max_age,
            s->late, s->overdue > s->late ? s->overdue - s->late : 0);
    if (s->misuses != 0)
        put(out, "; %lu wrong frees refused", s->misuses);
    put(out, "\n");
}

static void put_histogram(struct text *out, const granary_stack_stats *s)
{
    const char *between = "      Peak usage frame count: ";
    for (unsigned i = 0; i < GRANARY_STACK_BINS; i++) {
        if (s->frames[i] == 0)
            continue;
        put(out, "%s[%s-%s]: %lu frames", between, i == 0 ? "0" : bytes_of((uint64_t)1 << (i + 9)).text,
            bytes_of((uint64_t)1 << (i + 10)).text, s->frames[i]);
        between = ", ";
    }
    if (between[0] == ',')
        put(out, "\n");
}

static void put_stack(struct text *out, granary_stack *stack)
{
    granary_stack_stats s;
    granary_stack_get_stats(stack, &s, sizeof s);
    put(out, "    [ALLOC_TEMP_%s]\n", granary_stack_name(stack));
    put_histogram(out, &s);
    put(out, "      Initial Block Size %s\n", bytes_of(s.initial_bytes).text);
    put(out, "      Current Block Size %s\n", bytes_of(s.current_bytes).text);
    put(out, "      Peak Allocated Bytes %s\n", bytes_of(s.peak_bytes).text);
    put(out, "      Overflow Count %lu\n", s.overflows);
}

EXPORT int granary_linear_report(granary_linear *linear, granary_stack *const *stacks, size_t count, int fd)
{
    struct linear *l = granary_linear_of((uintptr_t)linear);
    struct text out = {.fd = fd};
    granary_linear_stats s;
    if (stacks == NULL && count != 0) {
        errno = EINVAL;
        return -1;
    }
    core_linear_read_stats((uintptr_t)linear, &s);
    put_summary(&out, l, &s);
    put(&out, "Memory Statistics:\n");
    if (count != 0)
        put(&out, "[ALLOC_TEMP_TLS] TLS Allocator\n  StackAllocators : \n");
    for (size_t i = 0; i < count; i++)
        put_stack(&out, stacks[i]);
    put(&out, "[ALLOC_TEMP_%s]\n  Initial Block Size %s\n  Used Block Count %lu\n", l->name,
        bytes_of(s.block_bytes).text, s.blocks_peak);
    put(&out, "  Overflow Count (too large) %lu\n  Overflow Count (full) %lu\n", s.too_large, s.full);
    granary_linear_print_alive(l);
    if (out.failed == 0)
        return 0;
    errno = out.failed;
    return -1;
}
