/* Written pages by soft-dirty bits: after 4 was written to /proc/self/clear_refs, bit 55 of a page's entry in
 * /proc/self/pagemap says whether the page was written to since, by the program or by a system call. It may say so of
 * other pages: of new mappings, and of a whole huge page.
 *
 * Reading and clearing are two steps, and there is one set of bits for the process. So:
 *
 *   - Bits are read and cleared while the world stands, all of them at once, into a map from which pages are then
 *     given out. A call that the kernel carries out for a blocked thread goes on meanwhile, and what it writes in
 *     between is forgotten. That is of no account if marking ends before the world goes on: what it has written leads
 *     to something that the program can reach in another way as well, and which is marked. Else it would be: but the
 *     first write to a page since the last clearing is a fault, and if threads other than this one had any, nothing is
 *     known.
 *   - They are cleared twice. The kernel may be just moving a page (compaction), with its entry out of the way and
 *     marked as writable, and that mark survives a clearing: later writes would not be seen. When they are cleared
 *     again that page is in its place, and pages that are moved now are not writable any more.
 *   - A page that was written after clearing tells whether somebody else clears them: criu, which saves and restores
 *     processes, or another collector. Then they are left to him.
 *   - Entries of pages that were swapped out have the bit, too, and are not swapped in for it. Pages that were given
 *     back and not touched since do not: they have no pointers.
 *
 * The files are opened each time, by the calling thread: open descriptors would be those of the parent in the child of
 * a fork, programs close all that they do not know, and /proc/self is empty when the first thread has ended. */
#include "collector.h"
#include "files.h"
#include "writes.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGE_BYTES = GC_BLOCK_BYTES, ENTRIES = 8192 };
static const uint64_t IS_WRITTEN = (uint64_t)1 << 55;

/* What one look costs that tells nothing, against one that does; the most before no more are made. */
enum { TROUBLE = 4, TROUBLE_MOST = 64 };

static struct {
    uint64_t *map;     /* a bit a page of the range: read as written, not given out yet */
    uint64_t *entries; /* ENTRIES of them, as the kernel has them */
    volatile uint64_t *witness; /* in a page between two that nobody can touch: its mapping never becomes another's */
    uintptr_t low, high;
    pid_t owner;   /* the process for which the bits were cleared last */
    bool is_known; /* they tell all that was written since */
    bool is_over;
    unsigned trouble;
} soft;

/* ---- the kernel's files ---- */

static bool read_entries(int fd, uintptr_t page, uint64_t *entries, size_t count)
{
    size_t wanted = count * sizeof entries[0], done = 0;
    while (done < wanted) {
        ssize_t n = file_pread(fd, (char *)entries + done, wanted - done,
                          (off_t)(page / PAGE_BYTES * sizeof entries[0] + done));
        if (n <= 0 && !(n < 0 && errno == EINTR))
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool is_written(int fd, const volatile void *address, bool *written)
{
    uint64_t entry;
    if (!read_entries(fd, (uintptr_t)address, &entry, 1))
        return false;
    *written = (entry & IS_WRITTEN) != 0;
    return true;
}

static bool clear_bits(void)
{
    int fd = file_open("/proc/thread-self/clear_refs", O_WRONLY | O_CLOEXEC);
    bool cleared = fd >= 0 && file_write(fd, "4", 1) == 1;
    if (fd >= 0)
        file_close(fd);
    return cleared;
}

static int open_pagemap(void) { return file_open("/proc/thread-self/pagemap", O_RDONLY | O_CLOEXEC); }

/* ---- whether the bits can be had ---- */

/* Clears them, has a page written to, by the program or by a system call, and looks. */
static bool sees_write(int fd, bool by_system_call)
{
    bool before, after;
    if (!clear_bits() || !is_written(fd, soft.witness, &before))
        return false;
    if (by_system_call)
        syscall(SYS_clock_gettime, CLOCK_MONOTONIC, (void *)soft.witness);
    else
        *soft.witness = 1;
    return is_written(fd, soft.witness, &after) && !before && after;
}

/* Nobody has cleared the bits: the program's own headers are written to by nobody, but their mapping was new once, and
 * counts as written until then. A kernel without these bits says that it is not. */
static bool are_free_to_use(int fd)
{
    bool written;
    return is_written(fd, (const void *)getauxval(AT_PHDR), &written) && written;
}

static bool make_room(uintptr_t low, uintptr_t high)
{
    soft.low = low;
    soft.high = high;
    soft.map = granary_gc_pages((high - low) / PAGE_BYTES / 8);
    soft.entries = granary_gc_pages(ENTRIES * sizeof soft.entries[0]);
    char *pages = mmap(NULL, 3 * PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (soft.map == NULL || soft.entries == NULL || pages == MAP_FAILED
        || mprotect(pages + PAGE_BYTES, PAGE_BYTES, PROT_READ | PROT_WRITE) != 0)
        return false;
    soft.witness = (volatile uint64_t *)(pages + PAGE_BYTES);
    *soft.witness = 0;
    return true;
}

static bool probe(uintptr_t low, uintptr_t high)
{
    int fd = sysconf(_SC_PAGESIZE) == PAGE_BYTES ? open_pagemap() : -1;
    bool works = fd >= 0 && are_free_to_use(fd) && make_room(low, high);
    works = works && sees_write(fd, false) && sees_write(fd, true);
    if (fd >= 0)
        file_close(fd);
    soft.is_over = !works;
    return works;
}

static bool start(uintptr_t low, uintptr_t high)
{
    if (soft.witness == NULL && !soft.is_over && !probe(low, high))
        return false;
    return !soft.is_over;
}

static void give_up(const char *why)
{
    soft.is_over = true;
    granary_gc_writes_end(why);
}

/* The bits were cleared by this process: in the child of a fork all begins anew. */
static bool is_begun(void) { return soft.is_known && soft.owner == granary_gc_process(); }

/* What it costs to look, and to find nothing, is not spent for ever. */
static void judge(bool known)
{
    if (known)
        soft.trouble -= soft.trouble > 0;
    else
        soft.trouble += TROUBLE;
    if (soft.trouble >= TROUBLE_MOST)
        give_up("soft-dirty bits tell too little here");
}

/* ---- reading and clearing ---- */

/* Page faults of all other threads so far, at least or at most: this one may have some between the two calls. */
static long faults_of_others(bool at_least)
{
    struct rusage all = {0}, own = {0};
    if (getrusage(at_least ? RUSAGE_SELF : RUSAGE_THREAD, at_least ? &all : &own) != 0
        || getrusage(at_least ? RUSAGE_THREAD : RUSAGE_SELF, at_least ? &own : &all) != 0)
        return -1;
    return all.ru_minflt + all.ru_majflt - own.ru_minflt - own.ru_majflt;
}

static uintptr_t end_of_blocks(void) { return core_gc_end() < soft.high ? core_gc_end() : soft.high; }

static size_t page_number(uintptr_t address) { return (address - soft.low) / PAGE_BYTES; }

static bool read_bits(int fd)
{
    size_t pages = page_number(end_of_blocks() + PAGE_BYTES - 1);
    for (size_t first = 0; first < pages; first += ENTRIES) {
        size_t count = pages - first < ENTRIES ? pages - first : ENTRIES;
        if (!read_entries(fd, soft.low + first * PAGE_BYTES, soft.entries, count))
            return false;
        for (size_t i = 0; i < count; i++)
            soft.map[(first + i) / 64] |= (soft.entries[i] >> 55 & 1) << (first + i) % 64;
    }
    return true;
}

/* From here on writes are known, if they were before or the bits can be cleared. */
static void clear(void)
{
    if (!clear_bits())
        return;
    soft.is_known = clear_bits();
    soft.owner = granary_gc_process();
    *soft.witness = 1;
}

/* Whether they tell all that was written since. Asked after reading them, and always before clearing them: somebody
 * else who does needs them, too. */
static bool are_ours(int fd)
{
    bool written;
    if (!is_written(fd, soft.witness, &written))
        return false;
    if (!written)
        give_up("soft-dirty bits are in use by somebody else");
    return written && is_begun();
}

/* Fills the map with what was written, and begins anew. false: that is not known. */
static bool look(bool in_one_go)
{
    int fd = open_pagemap();
    if (fd < 0)
        return false;
    long before = in_one_go ? 0 : faults_of_others(true);
    bool read = read_bits(fd), ours = are_ours(fd);
    if (!soft.is_over)
        clear();
    long after = in_one_go ? 0 : faults_of_others(false);
    file_close(fd);
    return read && ours && before >= 0 && after == before;
}

/* What was written so far does not matter any more. The world goes on. */
static bool forget(void)
{
    int fd = open_pagemap();
    if (fd < 0)
        return false;
    are_ours(fd);
    if (!soft.is_over) {
        memset(soft.map, 0, (page_number(end_of_blocks()) / 64 + 1) * sizeof soft.map[0]);
        clear();
    }
    file_close(fd);
    return true;
}

/* Gives some pages of the map out, from one on. */
static void give_out(uintptr_t from, uintptr_t *next, void (*see)(uintptr_t page), unsigned *pages)
{
    enum { PAGES = 512 };
    unsigned given = 0;
    size_t words = (page_number(end_of_blocks() + PAGE_BYTES - 1) + 63) / 64;
    for (size_t word = page_number(from) / 64; word < words; word++) {
        uintptr_t base = soft.low + word * 64 * PAGE_BYTES;
        if (given >= PAGES) {
            *next = base;
            return;
        }
        for (; soft.map[word] != 0; soft.map[word] &= soft.map[word] - 1, given++, ++*pages)
            see(base + (uintptr_t)__builtin_ctzll(soft.map[word]) * PAGE_BYTES);
    }
}

static bool take_some(uintptr_t from, uintptr_t *next, void (*see)(uintptr_t page), unsigned *pages, bool in_one_go)
{
    if (soft.is_over)
        return false;
    if (see == NULL) {
        bool done = forget();
        judge(done);
        return done;
    }
    if (from == 0) {
        bool first = !is_begun(), known = look(in_one_go);
        judge(known || first);
        if (!known)
            return false;
        from = soft.low;
    }
    give_out(from, next, see, pages);
    return true;
}

const struct gc_writes_way granary_gc_writes_by_soft_dirty = {"soft-dirty bits", start, take_some};
