/* What is mapped where. The kernel's list is read without allocating, since the world may stand. */
#include "collector.h"
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096, TEXT_BYTES = 8192 };

/* Lines of /proc/self/maps, one at a time. */
struct lines {
    int fd;
    size_t from, to;
    char text[TEXT_BYTES];
};

static bool next_line(struct lines *lines, char **line)
{
    for (;;) {
        char *start = lines->text + lines->from;
        char *end = memchr(start, '\n', lines->to - lines->from);
        if (end != NULL) {
            *end = '\0';
            *line = start;
            lines->from = (size_t)(end + 1 - lines->text);
            return true;
        }
        memmove(lines->text, start, lines->to - lines->from);
        lines->to -= lines->from;
        lines->from = 0;
        ssize_t n = file_read(lines->fd, lines->text + lines->to, sizeof lines->text - lines->to);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        lines->to += (size_t)n;
    }
}

static const char *read_hex(const char *at, uintptr_t *value)
{
    *value = 0;
    for (;; at++) {
        unsigned digit = (unsigned char)*at;
        if (digit >= '0' && digit <= '9')
            digit -= '0';
        else if (digit >= 'a' && digit <= 'f')
            digit -= 'a' - 10;
        else
            return at;
        *value = *value << 4 | digit;
    }
}

static bool is_readable(uintptr_t page)
{
    char byte;
    return granary_gc_read_carefully(&byte, page, sizeof byte) == sizeof byte;
}

/* Without the kernel's list (no file can be opened, /proc is not there) pages are tried. */
static bool probe(uintptr_t address, struct gc_mapping *found)
{
    static const uintptr_t MOST_UP = (uintptr_t)64 << 20, MOST_DOWN = (uintptr_t)1 << 30;
    uintptr_t page = address & ~(uintptr_t)(PAGE_BYTES - 1), low = page, high = page + PAGE_BYTES;
    bool readable = is_readable(page);
    while (high - page < MOST_UP && is_readable(high) == readable)
        high += PAGE_BYTES;
    while (readable && page - low < MOST_DOWN && is_readable(low - PAGE_BYTES))
        low -= PAGE_BYTES;
    *found = (struct gc_mapping){low, high, readable, readable, false};
    return true;
}

/* Neighbouring mappings are not taken together: behind a stack there may be a device's memory. */
bool granary_gc_find_mapping(uintptr_t address, struct gc_mapping *found)
{
    int saved = errno;
    bool have = false;
    struct lines lines = {.fd = file_open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
    char *line;
    if (lines.fd < 0)
        have = probe(address, found);
    while (lines.fd >= 0 && next_line(&lines, &line)) {
        uintptr_t low, high;
        const char *at = read_hex(line, &low);
        at = read_hex(at + 1, &high);
        if (high <= address)
            continue;
        if (low <= address) {
            *found = (struct gc_mapping){low, high, at[1] == 'r', at[2] == 'w', at[4] == 'p'};
            have = true;
        }
        break;
    }
    if (lines.fd >= 0)
        file_close(lines.fd);
    errno = saved;
    return have;
}

/* Pages of a stack that were never touched need not be read; reading them would have the kernel map zeros. */
void granary_gc_mark_touched(uintptr_t low, uintptr_t high)
{
    enum { PAGES = 512 };
    static uint64_t entries[PAGES]; /* one collection at a time */
    const uint64_t used = (uint64_t)3 << 62; /* in memory or swapped out */
    int saved = errno;
    int fd = file_open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    while (low < high) {
        uintptr_t first = low / PAGE_BYTES;
        size_t pages = (high - 1) / PAGE_BYTES - first + 1;
        if (pages > PAGES)
            pages = PAGES;
        size_t bytes = pages * sizeof entries[0];
        ssize_t n = fd < 0 ? -1 : file_pread(fd, entries, bytes, (off_t)(first * sizeof entries[0]));
        bool known = n == (ssize_t)(pages * sizeof entries[0]);
        for (size_t i = 0; i < pages; i++) {
            uintptr_t from = (first + i) * PAGE_BYTES;
            uintptr_t to = from + PAGE_BYTES < high ? from + PAGE_BYTES : high;
            if (!known || (entries[i] & used) != 0)
                core_gc_mark_range(from > low ? from : low, to);
        }
        low = (first + pages) * PAGE_BYTES;
    }
    if (fd >= 0)
        file_close(fd);
    errno = saved;
}

size_t granary_gc_read_carefully(void *to, uintptr_t from, size_t bytes)
{
    int saved = errno;
    struct iovec here = {to, bytes}, there = {(void *)from, bytes};
    ssize_t n = process_vm_readv(granary_gc_process(), &here, 1, &there, 1, 0);
    if (n < 0 && errno != EFAULT) { /* the call is not allowed here */
        int fd = file_open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
        n = fd < 0 ? -1 : file_pread(fd, to, bytes, (off_t)from);
        if (fd >= 0)
            file_close(fd);
    }
    errno = saved;
    return n < 0 ? 0 : (size_t)n;
}
