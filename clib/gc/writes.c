/* Which pages of the heap the program has written to since the last look.
 *
 * The kernel keeps the account (Linux 6.7): pages of the range are write-protected through userfaultfd in its
 * asynchronous mode, in which the first write to a page, be it the program's or a system call's, makes no signal and no
 * error, only a note; the PAGEMAP_SCAN call reads the notes and protects anew. On other kernels there is no account,
 * and collections look at everything: pages are never protected in a way that the program could notice. */
#include "collector.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

/* As in the kernel's headers from 6.7 on. */
enum { FEATURE_WP_UNPOPULATED = 1 << 13, FEATURE_WP_ASYNC = 1 << 15 };
enum { SCAN_PROTECT_WRITTEN = 1 << 0, SCAN_CHECK_ASYNC = 1 << 1, PAGE_IS_WRITTEN = 1 << 1 };

struct written_region {
    uint64_t start, end, categories;
};

struct scan {
    uint64_t size, flags, start, end, walk_end, regions, region_count, max_pages;
    uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
#define SCAN_CALL _IOWR('f', 16, struct scan)

static int faults = -1, pagemap = -1;
static pid_t owner; /* the process whose pages are watched: a child of a fork starts anew */
static uintptr_t watched_low, watched_high;

static void stop_watching(void)
{
    if (faults >= 0)
        close(faults);
    if (pagemap >= 0)
        close(pagemap);
    faults = pagemap = -1;
}

static bool watch(uintptr_t low, uintptr_t high)
{
    faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
    pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (faults < 0 || pagemap < 0)
        return false;
    struct uffdio_api api = {.api = UFFD_API, .features = FEATURE_WP_ASYNC | FEATURE_WP_UNPOPULATED};
    if (ioctl(faults, UFFDIO_API, &api) != 0)
        return false;
    struct uffdio_register range = {.range = {low, high - low}, .mode = UFFDIO_REGISTER_MODE_WP};
    if (ioctl(faults, UFFDIO_REGISTER, &range) != 0)
        return false;
    watched_low = low;
    watched_high = high;
    owner = granary_gc_process();
    return true;
}

bool granary_gc_writes_start(void)
{
    int saved = errno;
    if (faults >= 0 && owner != granary_gc_process())
        stop_watching(); /* its parent's */
    bool watching = faults >= 0
                    || watch((uintptr_t)GC_least_plausible_heap_addr, (uintptr_t)GC_greatest_plausible_heap_addr);
    if (!watching)
        stop_watching();
    errno = saved;
    return watching;
}

/* Calls see for pages of the heap that were written to since the last call, the first ones from *from on, counts them,
 * and has *from say where to go on, 0 at the end. false: nobody knows, all of them may have been. */
bool granary_gc_writes_take_some(uintptr_t *from, void (*see)(uintptr_t page), unsigned *pages)
{
    enum { REGIONS = 256, PAGES = 512 };
    static struct written_region regions[REGIONS]; /* one collection at a time */
    /* No further than there are blocks: the kernel would make page tables to note that the rest is not written. */
    uintptr_t end = core_gc_end() < watched_high ? core_gc_end() : watched_high;
    uintptr_t start = *from < watched_low ? watched_low : *from;
    *from = 0;
    if (faults < 0 || owner != granary_gc_process())
        return false;
    if (start >= end)
        return true;
    int saved = errno;
    struct scan scan = {
        .size = sizeof scan, .flags = SCAN_PROTECT_WRITTEN | SCAN_CHECK_ASYNC, .start = start, .end = end,
        .regions = (uintptr_t)regions, .region_count = REGIONS, .max_pages = PAGES, .category_mask = PAGE_IS_WRITTEN,
        .return_mask = PAGE_IS_WRITTEN,
    };
    int count = ioctl(pagemap, SCAN_CALL, &scan);
    errno = saved;
    if (count < 0 || scan.walk_end <= start)
        return false;
    for (int i = 0; i < count; i++)
        for (uintptr_t page = regions[i].start; page < regions[i].end; page += GC_BLOCK_BYTES, ++*pages)
            if (see != NULL)
                see(page);
    if (scan.walk_end < end)
        *from = scan.walk_end;
    return true;
}

/* All of them. */
bool granary_gc_writes_take(void (*see)(uintptr_t page))
{
    uintptr_t from = 0;
    unsigned pages = 0;
    bool known;
    do
        known = granary_gc_writes_take_some(&from, see, &pages);
    while (known && from != 0);
    return known;
}
