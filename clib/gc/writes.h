/* The two ways to know what was written; see writes.c. */
#ifndef GRANARY_GC_WRITES_H
#define GRANARY_GC_WRITES_H

#include <stdbool.h>
#include <stdint.h>

struct gc_writes_way {
    const char *name;
    /* The first time, and before each collection: sees to it that writes to the range are known from now on, anew in
     * the child of a fork. false: they cannot be. */
    bool (*start)(uintptr_t low, uintptr_t high);
    /* See granary_gc_writes_take_some. in_one_go: marking ends before the world goes on. */
    bool (*take_some)(uintptr_t start, uintptr_t *next, void (*see)(uintptr_t page), unsigned *pages, bool in_one_go);
};

extern const struct gc_writes_way granary_gc_writes_by_faults, granary_gc_writes_by_soft_dirty;

#endif
