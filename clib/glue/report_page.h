/* report_page.h: a page of output and what is put on it: numbers, bytes for readers, strings from
 * outside.
 *
 * Private to report.c and report_render.c. Numbers are formatted here because printf may allocate
 * and follows the locale.
 */
#ifndef GRANARY_REPORT_PAGE_H
#define GRANARY_REPORT_PAGE_H

#include "granary.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Runs once in a process: small matters, fast does not. Static, since a program that links
 * libgranary.a must not meet such short names; not every file uses all of them. */
#define PAGE_FUNCTION static __attribute__((cold, noinline, unused))

enum { CELL_BYTES = 48 };

/* ---- a page of output ---- */

struct page {
    int fd;
    int error;                 /* errno of the first write that failed, 0: none */
    int wait_ms;               /* what is left to wait for a full pipe */
    size_t used;
    size_t room;
    char *bytes;
};

/* Waits until fd takes more. Not poll(): that one is the library's own, which sweeps. */
PAGE_FUNCTION int wait_writable(struct page *page) {
    struct pollfd wanted = {.fd = page->fd, .events = POLLOUT};
    const int step_ms = 50;
    if (page->wait_ms <= 0) return 0;
    page->wait_ms -= step_ms;
    struct timespec time = {.tv_nsec = step_ms * 1000000L};
    syscall(SYS_ppoll, &wanted, 1L, &time, NULL, 0L);
    return 1;
}

PAGE_FUNCTION void page_flush(struct page *page) {
    size_t done = 0;
    while (done < page->used && page->error == 0) {
        ssize_t count = write(page->fd, page->bytes + done, page->used - done);
        if (count > 0) {
            done += (size_t)count;
        } else if (count == 0) {
            page->error = EIO;
        } else if (errno == EAGAIN && wait_writable(page)) {
            continue;
        } else if (errno != EINTR) {
            page->error = errno;
        }
    }
    page->used = 0;
}

PAGE_FUNCTION void put_bytes(struct page *page, const char *bytes, size_t count) {
    while (count > 0 && page->error == 0) {
        if (page->used == page->room) page_flush(page);
        size_t part = page->room - page->used;
        if (part > count) part = count;
        memcpy(page->bytes + page->used, bytes, part);
        page->used += part;
        bytes += part;
        count -= part;
    }
}

PAGE_FUNCTION void put(struct page *page, const char *text) {
    put_bytes(page, text, strlen(text));
}

/* Puts text flush right in a column; longer text makes the column wider. */
PAGE_FUNCTION void put_right(struct page *page, const char *text, size_t columns) {
    for (size_t length = strlen(text); length < columns; length++) put(page, " ");
    put(page, text);
}

/* ---- numbers ---- */

PAGE_FUNCTION uint64_t add_capped(uint64_t a, uint64_t b) {
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

PAGE_FUNCTION uint64_t multiply_capped(uint64_t a, uint64_t b) {
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* Writes value in decimal, with a comma before every third digit if asked, and returns where it
 * begins. */
PAGE_FUNCTION char *decimal(char cell[CELL_BYTES], uint64_t value, int commas) {
    char *at = cell + CELL_BYTES - 1;
    *at = 0;
    for (int digits = 0; digits == 0 || value != 0; digits++, value /= 10) {
        if (commas && digits > 0 && digits % 3 == 0) *--at = ',';
        *--at = (char)('0' + value % 10);
    }
    return at;
}

/* Writes tenths / 10 with one decimal and a unit behind it. */
PAGE_FUNCTION char *with_unit(char cell[CELL_BYTES], uint64_t tenths, const char *unit) {
    char digits[CELL_BYTES];
    char tail[3] = {'.', (char)('0' + tenths % 10), 0};
    char *whole = decimal(digits, tenths / 10, 0);
    size_t length = strlen(whole);
    memcpy(cell, whole, length);
    memcpy(cell + length, tail, 2);
    memcpy(cell + length + 2, unit, strlen(unit) + 1);
    return cell;
}

/* Writes bytes for a reader: 512 B, 1.5 KiB, 16.0 EiB. */
PAGE_FUNCTION char *human(char cell[CELL_BYTES], uint64_t bytes) {
    static const char *const units[] = {" KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    if (bytes < 1024) {
        char *at = decimal(cell, bytes, 0);
        size_t length = strlen(at);
        memmove(cell, at, length);
        memcpy(cell + length, " B", 3);
        return cell;
    }
    size_t unit = 0;
    while (unit < 5 && bytes >= 1024 * 1024) {
        bytes >>= 10;
        unit++;
    }
    uint64_t tenths = (bytes * 10 + 512) >> 10;
    if (tenths >= 10240 && unit < 5) {
        unit++;
        tenths = 10;
    }
    return with_unit(cell, tenths, units[unit]);
}

/* Writes a count in fewer characters than columns: with commas, without, or cut down to a letter.
 * The last takes up to 7. */
PAGE_FUNCTION char *compact(char cell[CELL_BYTES], uint64_t count, size_t columns) {
    static const char *const letters[] = {" k", " M", " G", " T", " P", " E"};
    size_t letter = 0;
    char *text = decimal(cell, count, 1);
    if (strlen(text) >= columns) text = decimal(cell, count, 0);
    if (strlen(text) < columns) return text;
    while (letter < 5 && count >= 1000000) {
        count /= 1000;
        letter++;
    }
    return with_unit(cell, count / 100, letters[letter]);
}

PAGE_FUNCTION void put_count(struct page *page, uint64_t count, size_t columns) {
    char cell[CELL_BYTES];
    put_right(page, compact(cell, count, columns), columns);
}

PAGE_FUNCTION void put_number(struct page *page, uint64_t value) {
    char cell[CELL_BYTES];
    put(page, decimal(cell, value, 0));
}

PAGE_FUNCTION void put_human(struct page *page, uint64_t bytes, size_t columns) {
    char cell[CELL_BYTES];
    put_right(page, human(cell, bytes), columns);
}

/* Puts microseconds as seconds with the given number of decimals, at most 6. */
PAGE_FUNCTION void put_seconds(struct page *page, uint64_t microseconds, int decimals) {
    char digits[] = ".000000";
    uint64_t rest = microseconds % 1000000;
    for (int at = 6; at > 0; at--, rest /= 10) digits[at] = (char)('0' + rest % 10);
    put_number(page, microseconds / 1000000);
    put_bytes(page, digits, (size_t)decimals + 1);
}

/* Puts the share of whole that is lost, as a percentage with one decimal. */
PAGE_FUNCTION void put_waste(struct page *page, uint64_t whole, uint64_t asked, size_t columns) {
    char cell[CELL_BYTES];
    uint64_t lost = whole > asked ? whole - asked : 0;
    uint64_t tenths = 0;
    if (whole > 0) {
        tenths = lost < UINT64_MAX / 1000 ? lost * 1000 / whole : lost / (whole / 1000);
    }
    put_right(page, with_unit(cell, tenths, "%"), columns);
}

/* ---- strings from outside ---- */

/* Returns the length of the valid UTF-8 character at text, 0 if there is none. */
PAGE_FUNCTION size_t character_bytes(const char *text, size_t room) {
    const unsigned char *at = (const unsigned char *)text;
    size_t length = at[0] < 0x80 ? 1 : at[0] < 0xC2 ? 0 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3
                  : at[0] < 0xF5 ? 4 : 0;
    if (length == 0 || length > room) return 0;
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xC0) != 0x80) return 0;
    }
    if (at[0] == 0xE0 && at[1] < 0xA0) return 0; /* longer than need be */
    if (at[0] == 0xED && at[1] > 0x9F) return 0; /* a surrogate */
    if (at[0] == 0xF0 && at[1] < 0x90) return 0;
    if (at[0] == 0xF4 && at[1] > 0x8F) return 0; /* beyond Unicode */
    return length;
}

/* Puts a string for a terminal, at most limit bytes: what could steer it becomes a '?'. */
PAGE_FUNCTION size_t put_visible(struct page *page, const char *text, size_t count, size_t limit) {
    size_t put_count = 0;
    for (size_t at = 0; at < count;) {
        size_t length = character_bytes(text + at, count - at);
        unsigned char first = (unsigned char)text[at];
        int control = first < 0x20 || first == 0x7F
                   || (length == 2 && first == 0xC2 && (unsigned char)text[at + 1] < 0xA0);
        size_t width = length == 0 || control ? 1 : length;
        if (put_count + width > limit) break;
        if (length == 0 || control) put(page, "?");
        else put_bytes(page, text + at, length);
        put_count += width;
        at += length == 0 ? 1 : length;
    }
    return put_count;
}

PAGE_FUNCTION void put_json_string(struct page *page, const char *text, size_t count) {
    static const char hex[] = "0123456789abcdef";
    put(page, "\"");
    for (size_t at = 0; at < count;) {
        size_t length = character_bytes(text + at, count - at);
        unsigned char first = (unsigned char)text[at];
        if (length == 0) {
            put(page, "\\ufffd");
            length = 1;
        } else if (first < 0x20 || first == 0x7F) {
            char escape[] = {'\\', 'u', '0', '0', hex[first >> 4], hex[first & 15], 0};
            put(page, escape);
        } else {
            if (first == '"' || first == '\\') put(page, "\\");
            put_bytes(page, text + at, length);
        }
        at += length;
    }
    put(page, "\"");
}

/* What a report says of the process itself. */
struct process {
    uint64_t elapsed_us;
    uint64_t user_us;
    uint64_t system_us;
    uint64_t peak_rss_bytes;
    const char *name;
    const char *command;       /* as in /proc/self/cmdline: a NUL behind every argument */
    size_t command_bytes;
};

/* Puts a whole report on the page. In report_render.c. */
void granary_report_render(struct page *page, int json, const granary_stats *stats,
                           const struct process *process);

#endif
