/* Figures. */
#include "collector.h"

#include <string.h>

unsigned GC_get_version(void) { return 8u << 16 | 2 << 8 | 2; } /* the interface is that of bdwgc 8.2.2 */

static void read_stats(struct gc_core_stats *stats)
{
    memset(stats, 0, sizeof *stats);
    if (!atomic_load(&granary_gc_started))
        return;
    granary_gc_into_core();
    core_gc_read_stats(stats);
    granary_gc_out_of_core();
}

GC_word GC_get_gc_no(void) { return GC_gc_no; }
int GC_get_parallel(void) { return GC_parallel; }

size_t GC_get_heap_size(void)
{
    struct gc_core_stats stats;
    read_stats(&stats);
    return stats.heap - (stats.free - stats.free_dirty);
}

size_t GC_get_free_bytes(void)
{
    struct gc_core_stats stats;
    read_stats(&stats);
    return stats.free_dirty;
}

size_t GC_get_unmapped_bytes(void)
{
    struct gc_core_stats stats;
    read_stats(&stats);
    return stats.free - stats.free_dirty;
}

size_t GC_get_bytes_since_gc(void)
{
    struct gc_core_stats stats;
    read_stats(&stats);
    return stats.since;
}

/* The core counts what is freed since the start; what was freed before the last collection is kept here. */
size_t GC_get_expl_freed_bytes_since_gc(void)
{
    struct gc_core_stats stats;
    read_stats(&stats);
    return stats.freed - granary_gc_freed_before;
}

size_t GC_get_total_bytes(void)
{
    struct gc_core_stats stats;
    read_stats(&stats);
    return stats.allocated;
}

size_t GC_get_obtained_from_os_bytes(void)
{
    struct gc_core_stats stats;
    read_stats(&stats);
    return stats.heap + stats.meta;
}

/* What the heap has taken of the system, whether free or not. */
size_t GC_get_memory_use(void)
{
    struct gc_core_stats stats;
    read_stats(&stats);
    return stats.heap;
}

/* The size of the objects that serve a request of that many granules, in granules; -1: no such size. */
size_t GC_get_size_map_at(int index)
{
    if (index < 0 || (size_t)index * GC_GRANULE_BYTES > GC_SMALL_MOST_BYTES)
        return (size_t)-1;
    size_t bytes = (size_t)index * GC_GRANULE_BYTES;
    bytes = bytes == 0 ? 0 : bytes - granary_gc_extra();
    return core_gc_rounded_size(bytes, GC_KIND_NORMAL) / GC_GRANULE_BYTES;
}

void GC_get_heap_usage_safe(GC_word *heap, GC_word *free_bytes, GC_word *unmapped, GC_word *since, GC_word *total)
{
    struct gc_core_stats stats;
    read_stats(&stats);
    if (heap != NULL)
        *heap = stats.heap - (stats.free - stats.free_dirty);
    if (free_bytes != NULL)
        *free_bytes = stats.free_dirty;
    if (unmapped != NULL)
        *unmapped = stats.free - stats.free_dirty;
    if (since != NULL)
        *since = stats.since;
    if (total != NULL)
        *total = stats.allocated - stats.since;
}

/* The part of the structure that the caller has room for is filled; what it has more is set to all ones. */
size_t GC_get_prof_stats(struct GC_prof_stats_s *result, size_t room)
{
    struct gc_core_stats stats;
    read_stats(&stats);
    struct GC_prof_stats_s full = {
        .heapsize_full = stats.heap,
        .free_bytes_full = stats.free,
        .unmapped_bytes = stats.free - stats.free_dirty,
        .bytes_allocd_since_gc = stats.since,
        .allocd_bytes_before_gc = stats.allocated - stats.since,
        .non_gc_bytes = GC_non_gc_bytes,
        .gc_no = GC_gc_no,
        .markers_m1 = (GC_word)GC_parallel,
        .bytes_reclaimed_since_gc = stats.before > stats.live ? stats.before - stats.live : 0,
        .reclaimed_bytes_before_gc = granary_gc_reclaimed_before,
        .expl_freed_bytes_since_gc = stats.freed - granary_gc_freed_before,
        .obtained_from_os_bytes = stats.heap + stats.meta,
    };
    size_t filled = room < sizeof full ? room : sizeof full;
    memcpy(result, &full, filled);
    if (room > filled)
        memset((char *)result + filled, 0xff, room - filled);
    return filled;
}

size_t GC_get_prof_stats_unsafe(struct GC_prof_stats_s *result, size_t room) { return GC_get_prof_stats(result, room); }

/* ---- time ---- */

static uint64_t measured_from;

void GC_start_performance_measurement(void) { measured_from = atomic_load(&granary_gc_total_pause) + 1; }

unsigned long GC_get_full_gc_total_time(void)
{
    uint64_t total = atomic_load(&granary_gc_total_pause);
    return measured_from == 0 ? 0 : (unsigned long)((total - (measured_from - 1)) / 1000000);
}

/* bdwgc's own inline code counted by these; nothing here is counted twice. */
void GC_incr_bytes_allocd(size_t bytes) { (void)bytes; }
void GC_incr_bytes_freed(size_t bytes) { (void)bytes; }
