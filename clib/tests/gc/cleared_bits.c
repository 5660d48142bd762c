// Soft-dirty bits that somebody else clears as well are left to him, and nothing is lost by it: he has cleared them
// before the mode is asked for, or while it is on.
// library: gc
// also: CLEAR_FIRST=1
// only: granary
#include "check.h"
#include "without_userfaultfd.h"

#include <fcntl.h>
#include <unistd.h>

enum { OLD = 1000 };

struct node {
    struct node *young;
    long value;
    char room[496];
};

static struct node **old;

static void clear_bits(void)
{
    int fd = open("/proc/self/clear_refs", O_WRONLY);
    CHECK(fd < 0 || write(fd, "4", 1) == 1);
    close(fd);
}

/* Everything is new, and counts as written, until they are cleared. */
static int has_bits(void)
{
    uint64_t entry = 0;
    int fd = open("/proc/self/pagemap", O_RDONLY);
    off_t at = (off_t)((uintptr_t)&entry / 4096 * sizeof entry);
    int has = fd >= 0 && pread(fd, &entry, sizeof entry, at) == sizeof entry && (entry >> 55 & 1) != 0;
    close(fd);
    return has;
}

static void churn(void)
{
    for (GC_word end = GC_get_gc_no() + 3; GC_get_gc_no() < end;)
        CHECK(GC_malloc(500) != NULL);
}

static void hang(long value)
{
    for (long i = 0; i < OLD; i++) {
        struct node *young = GC_malloc(sizeof *young);
        young->value = value + i;
        old[i]->young = young;
    }
}

static void look(long value)
{
    for (long i = 0; i < OLD; i++)
        CHECK(old[i]->young->value == value + i);
}

int main(void)
{
    int has = has_bits(), first = getenv("CLEAR_FIRST") != NULL;
    forbid_userfaultfd();
    if (first)
        clear_bits();
    GC_INIT();
    GC_enable_incremental();
    CHECK(GC_is_incremental_mode() == (has && !first));
    old = GC_malloc(OLD * sizeof *old);
    GC_add_roots(&old, &old + 1);
    for (long i = 0; i < OLD; i++)
        old[i] = GC_malloc(sizeof *old[i]);
    churn();
    hang(1000);
    churn();
    look(1000);
    CHECK(GC_is_incremental_mode() == (has && !first));
    hang(2000);
    clear_bits();
    churn();
    look(2000);
    CHECK(!GC_is_incremental_mode());
    hang(3000);
    churn();
    look(3000);
    return 0;
}
