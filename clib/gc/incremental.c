/* Generational and incremental mode, for programs that ask for it (GC_enable_incremental).
 *
 * Generational: most collections are partial. What the last one marked stays marked, and only pages that the program
 * has written to since, and the roots, are looked at. Every GC_full_freq-th is full, and those that the program asks
 * for.
 *
 * Incremental, with a limit (GC_set_time_limit): the marking of a collection is cut into slices of that length, one at
 * an allocation every now and then. Meanwhile the program runs; at the end the pages written to since the beginning are
 * looked at once more. See collect.c for the steps. */
#include "collector.h"

static _Atomic bool is_on;

bool granary_gc_is_incremental(void) { return atomic_load_explicit(&is_on, memory_order_relaxed); }

void GC_enable_incremental(void)
{
    granary_gc_enter();
    if (granary_gc_is_incremental() || GC_find_leak != 0)
        return;
    bool took = granary_gc_lock();
    if (granary_gc_writes_start())
        atomic_store(&is_on, true);
    else if (granary_gc_options.print_stats)
        granary_gc_log("granary: the kernel keeps no account of writes (it needs Linux 6.7 and userfaultfd): "
                       "all collections are full\n");
    granary_gc_unlock(took);
}

int GC_is_incremental_mode(void) { return granary_gc_is_incremental(); }
int GC_incremental_protection_needs(void) { return 0; } /* no page is ever protected against the program */

/* Written pages are known without the program's help. */
void granary_gc_note_write(const void *address) { (void)address; }

bool granary_gc_has_time_limit(uint64_t *nanoseconds)
{
    struct GC_timeval_s limit = GC_get_time_limit_tv();
    *nanoseconds = (uint64_t)limit.tv_ms * 1000000u + limit.tv_nsec;
    return granary_gc_is_incremental() && limit.tv_ms != GC_TIME_UNLIMITED;
}

void GC_start_incremental_collection(void)
{
    struct gc_request request = {.automatic = true, .slice = true};
    if (granary_gc_is_incremental())
        granary_gc_collect(&request);
}

/* Behind the slow path of an allocation. */
void granary_gc_slice_soon(void)
{
    enum { CALLS_BETWEEN_SLICES = 16 };
    static _Atomic uint32_t calls;
    if (LIKELY(!granary_gc_is_open()) || atomic_fetch_add(&calls, 1) % CALLS_BETWEEN_SLICES != 0)
        return;
    struct gc_request request = {.automatic = true, .slice = true};
    granary_gc_collect(&request);
}

int GC_collect_a_little(void)
{
    granary_gc_enter();
    granary_gc_into_core();
    bool due = core_gc_should_collect();
    granary_gc_out_of_core();
    if (due || granary_gc_is_open()) {
        struct gc_request request = {.automatic = true, .slice = true};
        granary_gc_collect(&request);
        granary_gc_run_finalizers_soon();
    }
    return granary_gc_is_open();
}
