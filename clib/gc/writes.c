/* Which pages of the heap the program has written to since the last look.
 *
 * The kernel keeps the account, in one of two ways; the first that works here is used for good:
 *
 *   writes_faults.c   userfaultfd's asynchronous write protection (Linux 6.7): of the heap alone, read and begun anew
 *                     page by page
 *   writes_soft.c     soft-dirty bits (Linux 3.17, where they are compiled in): of the whole process at once
 *
 * With neither there is no account, and collections look at everything: pages are never protected in a way that the
 * program, or a system call, could notice. */
#include "collector.h"
#include "writes.h"

#include <errno.h>
#include <stddef.h>

static const struct gc_writes_way *way;

bool granary_gc_writes_start(void)
{
    static const struct gc_writes_way *const ways[] = {&granary_gc_writes_by_faults, &granary_gc_writes_by_soft_dirty};
    uintptr_t low = (uintptr_t)GC_least_plausible_heap_addr, high = (uintptr_t)GC_greatest_plausible_heap_addr;
    int saved = errno;
    bool started = way != NULL && way->start(low, high);
    for (size_t i = 0; way == NULL && i < sizeof ways / sizeof ways[0]; i++) {
        started = ways[i]->start(low, high);
        if (started)
            way = ways[i];
    }
    errno = saved;
    return started;
}

const char *granary_gc_writes_name(void) { return way == NULL ? "nothing" : way->name; }

static bool take_some(uintptr_t *from, void (*see)(uintptr_t page), unsigned *pages, bool in_one_go)
{
    uintptr_t start = *from;
    *from = 0;
    if (way == NULL)
        return false;
    int saved = errno;
    bool known = way->take_some(start, from, see, pages, in_one_go);
    errno = saved;
    return known;
}

/* Calls see for pages of the heap that were written to since the last call, the first ones from *from on, counts them,
 * and has *from say where to go on, 0 at the end. false: nobody knows, all of them may have been. Where see is not NULL
 * the world stands. */
bool granary_gc_writes_take_some(uintptr_t *from, void (*see)(uintptr_t page), unsigned *pages)
{
    return take_some(from, see, pages, false);
}

/* All of them; marking ends before the world goes on. */
bool granary_gc_writes_take(void (*see)(uintptr_t page))
{
    uintptr_t from = 0;
    unsigned pages = 0;
    bool known;
    do
        known = take_some(&from, see, &pages, true);
    while (known && from != 0);
    return known;
}
