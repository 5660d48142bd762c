/* Written pages by userfaultfd (Linux 6.7): pages of the range are write-protected in its asynchronous mode, in which
 * the first write to a page, be it the program's or a system call's, makes no signal and no error, only a note; the
 * PAGEMAP_SCAN call reads the notes and protects anew. */
#include "collector.h"
#include "files.h"
#include "writes.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
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

/* A program may close every descriptor and open files of its own under the numbers. */
struct descriptor {
    int fd;
    dev_t device;
    ino_t inode;
};

static struct descriptor faults = {.fd = -1}, pagemap = {.fd = -1};
static pid_t owner; /* the process whose pages are watched: a child of a fork starts anew */
static uintptr_t watched_low, watched_high;

static bool keep(struct descriptor *descriptor, int fd)
{
    struct stat about;
    fd = file_out_of_the_way(fd);
    if (fd < 0 || fstat(fd, &about) != 0)
        return false;
    *descriptor = (struct descriptor){fd, about.st_dev, about.st_ino};
    return true;
}

static void drop(struct descriptor *descriptor)
{
    struct stat about;
    if (descriptor->fd >= 0 && fstat(descriptor->fd, &about) == 0 && about.st_dev == descriptor->device
        && about.st_ino == descriptor->inode)
        file_close(descriptor->fd);
    descriptor->fd = -1;
}

static void stop_watching(void)
{
    drop(&faults);
    drop(&pagemap);
}

static bool watch(uintptr_t low, uintptr_t high)
{
    if (!keep(&faults, (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY))
        || !keep(&pagemap, file_open("/proc/thread-self/pagemap", O_RDONLY | O_CLOEXEC)))
        return false;
    struct uffdio_api api = {.api = UFFD_API, .features = FEATURE_WP_ASYNC | FEATURE_WP_UNPOPULATED};
    if (ioctl(faults.fd, UFFDIO_API, &api) != 0)
        return false;
    struct uffdio_register range = {.range = {low, high - low}, .mode = UFFDIO_REGISTER_MODE_WP};
    if (ioctl(faults.fd, UFFDIO_REGISTER, &range) != 0)
        return false;
    /* Up to Linux 6.9 notes outlive a descriptor that the program has closed, and would be read as new ones. */
    struct uffdio_writeprotect unprotected = {.range = range.range};
    if (ioctl(faults.fd, UFFDIO_WRITEPROTECT, &unprotected) != 0)
        return false;
    watched_low = low;
    watched_high = high;
    owner = granary_gc_process();
    return true;
}

static bool start(uintptr_t low, uintptr_t high)
{
    if (faults.fd >= 0 && owner != granary_gc_process())
        stop_watching(); /* its parent's */
    bool watching = faults.fd >= 0 || watch(low, high);
    if (!watching)
        stop_watching();
    return watching;
}

/* Each page is read and protected in one step, so in_one_go makes no difference. */
static bool take_some(uintptr_t from, uintptr_t *next, void (*see)(uintptr_t page), unsigned *pages, bool in_one_go)
{
    enum { REGIONS = 256, PAGES = 512 };
    static struct written_region regions[REGIONS]; /* one collection at a time */
    /* No further than there are blocks: the kernel would make page tables to note that the rest is not written. */
    uintptr_t end = core_gc_end() < watched_high ? core_gc_end() : watched_high;
    (void)in_one_go;
    if (faults.fd < 0 || owner != granary_gc_process())
        return false;
    if (from < watched_low)
        from = watched_low;
    if (from >= end)
        return true;
    struct scan scan = {
        .size = sizeof scan, .flags = SCAN_PROTECT_WRITTEN | SCAN_CHECK_ASYNC, .start = from, .end = end,
        .regions = (uintptr_t)regions, .region_count = REGIONS, .max_pages = PAGES, .category_mask = PAGE_IS_WRITTEN,
        .return_mask = PAGE_IS_WRITTEN,
    };
    int count = ioctl(pagemap.fd, SCAN_CALL, &scan);
    if (count < 0 || scan.walk_end <= from) {
        stop_watching(); /* the next collection begins anew: the program has closed a descriptor perhaps */
        return false;
    }
    for (int i = 0; i < count; i++)
        for (uintptr_t page = regions[i].start; page < regions[i].end; page += GC_BLOCK_BYTES, ++*pages)
            if (see != NULL)
                see(page);
    if (scan.walk_end < end)
        *next = scan.walk_end;
    return true;
}

const struct gc_writes_way granary_gc_writes_by_faults = {"userfaultfd", start, take_some};
