/* Generational and incremental mode, for programs that ask for it (GC_enable_incremental).
 *
 * Generational: most collections are partial. What the last one marked stays marked, and only pages that the program
 * has written to since, and the roots, are looked at. Every GC_full_freq-th is full, and those that the program asks
 * for.
 *
 * Incremental, with a limit (GC_set_time_limit): a collection is cut into slices of that length, one at an allocation
 * every now and then, between which the program runs:
 *
 *   1. Protecting, before a full one: what was written earlier is forgotten. The world goes on.
 *   2. Marking, which begins with the roots. A partial one looks at what was written since the last one.
 *   3. Rounds, still marking: the roots, and what was written since they were looked at before. The slices follow each
 *      other closely now: so each round takes less time, and less is written meanwhile.
 *   4. When a round has found little, the last one, in one go, and what belongs to the end of marking.
 *   5. Sorting. The world goes on.
 *
 * See collect.c for the steps. */
#include "collector.h"

#include <string.h>

enum { FEW_PAGES = 64, ROUNDS_MOST = 20, LEAST_BETWEEN = 64 << 10, BETWEEN_ROUNDS = 16 << 10 };

static _Atomic uint64_t bytes_between; /* what is allocated until the next slice, or look whether to begin */

static struct {
    bool under_way; /* pages from this one on are to be looked at */
    bool is_fresh;  /* the world has stood since the collection began */
    bool last;      /* the next round will be */
    bool unknown;   /* the kernel did not tell what was written */
    uintptr_t from;
    unsigned pages; /* that it has found */
    unsigned count; /* of rounds */
} rounds;

static _Atomic bool is_on;
static const char *end_reason; /* why the account ended; NULL: told, or it did not */

bool granary_gc_is_incremental(void) { return atomic_load_explicit(&is_on, memory_order_relaxed); }

void GC_enable_incremental(void)
{
    granary_gc_enter();
    if (granary_gc_is_incremental() || GC_find_leak != 0)
        return;
    bool took = granary_gc_lock();
    bool starts = granary_gc_writes_start();
    if (starts)
        atomic_store(&is_on, true);
    if (starts && granary_gc_options.print_stats)
        granary_gc_log("granary: written pages are known by %s\n", granary_gc_writes_name());
    else if (granary_gc_options.print_stats)
        granary_gc_log("granary: the kernel keeps no account of writes (by userfaultfd, from Linux 6.7 on, or by "
                       "soft-dirty bits and a /proc that can be written): all collections are full\n");
    granary_gc_unlock(took);
}

/* The account cannot be kept any more. A collection that is under way finds that out as it asks for it. */
void granary_gc_writes_end(const char *why)
{
    atomic_store(&is_on, false);
    end_reason = why;
}

/* Once, while the world goes on: whoever reads the log may be a thread of the program. */
static void tell_end(void)
{
    if (end_reason != NULL && granary_gc_options.print_stats)
        granary_gc_log("granary: %s: all collections are full from now on\n", end_reason);
    end_reason = NULL;
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

/* What is written from now on will be known. Returns false if time was up before all pages were seen to. */
bool granary_gc_protect(uint64_t deadline)
{
    static uintptr_t from;
    unsigned pages = 0;
    do {
        if (!granary_gc_writes_take_some(&from, NULL, &pages) || from == 0)
            return true;
    } while (deadline == 0 || granary_sys_now() < deadline);
    return false;
}

/* A partial collection begins with a round. */
void granary_gc_rounds_start(bool partial)
{
    memset(&rounds, 0, sizeof rounds);
    rounds.is_fresh = true;
    rounds.under_way = partial;
}

/* false: what was written is not known; all is to be looked at. */
bool granary_gc_rounds_know(void) { return !rounds.unknown; }

static bool go_round(uint64_t deadline)
{
    do {
        rounds.unknown |= !granary_gc_writes_take_some(&rounds.from, core_gc_rescan_block, &rounds.pages);
        if (rounds.unknown || rounds.from == 0) {
            rounds.under_way = false;
            rounds.count++;
            return true;
        }
    } while (granary_sys_now() < deadline);
    return false;
}

/* A slice of marking. Returns true if the rest is to be marked in one go: it is little, or nothing. */
bool granary_gc_mark_some(uint64_t deadline)
{
    bool fresh = rounds.is_fresh;
    rounds.is_fresh = false;
    rounds.unknown |= !granary_gc_writes_start();
    if (rounds.last)
        return true;
    for (;;) {
        if (rounds.under_way && !go_round(deadline))
            return false;
        if (!core_gc_drain(deadline))
            return false;
        if (fresh)
            return true;
        if (rounds.count != 0 && (rounds.pages <= FEW_PAGES || rounds.count >= ROUNDS_MOST)) {
            rounds.last = true;
            return false;
        }
        atomic_store(&bytes_between, BETWEEN_ROUNDS);
        rounds.pages = 0;
        rounds.under_way = true;
        granary_gc_mark_all_roots();
    }
}

/* The first or the next slice of a collection, unless another thread ends one meanwhile. */
static void make_slice(void)
{
    struct gc_request request = {.automatic = true, .before = granary_gc_markings, .slice = true};
    granary_gc_collect(&request);
}

void GC_start_incremental_collection(void)
{
    if (granary_gc_is_incremental())
        make_slice();
}

/* By the time that half of what is allocated between two collections has been allocated anew, the collection should be
 * over; it marks a byte a nanosecond or more. */
void granary_gc_plan_slices(void)
{
    uint64_t limit;
    struct gc_core_stats stats;
    tell_end();
    if (!granary_gc_has_time_limit(&limit))
        return;
    core_gc_read_stats(&stats);
    uint64_t every = stats.target / 2 / (1 + stats.live / (limit == 0 ? 1 : limit));
    atomic_store(&bytes_between, every < LEAST_BETWEEN ? LEAST_BETWEEN : every);
}

/* A collection in slices begins when it is due and there are no more free blocks than will be allocated until it is
 * over: the heap would become larger with each one otherwise. */
static bool is_to_begin(void)
{
    uint64_t limit;
    struct gc_core_stats stats;
    if (GC_dont_gc > 0 || GC_get_disable_automatic_collection() != 0 || !granary_gc_has_time_limit(&limit))
        return false;
    granary_gc_into_core();
    core_gc_read_stats(&stats);
    granary_gc_out_of_core();
    uint64_t until_due = stats.target > stats.since ? stats.target - stats.since : 0;
    uint64_t to_spare = stats.free > stats.target ? stats.free - stats.target : 0;
    uint64_t left = until_due > to_spare ? until_due : to_spare;
    atomic_store(&bytes_between, left < LEAST_BETWEEN ? LEAST_BETWEEN : left);
    return left == 0;
}

/* Behind the slow path of an allocation, which has taken 16 objects or more if they are small. While another thread
 * sorts the blocks after a collection that is not in slices, this one waits for it: what it would take meanwhile makes
 * the heap larger. */
void granary_gc_slice_soon(size_t bytes)
{
    enum { OBJECTS = 16 };
    static _Atomic uint64_t since;
    if (LIKELY(!granary_gc_is_open() && !granary_gc_is_incremental()))
        return;
    if (bytes <= GC_SMALL_MOST_BYTES)
        bytes = (bytes * OBJECTS | (GC_BLOCK_BYTES - 1)) + 1;
    if (atomic_fetch_add(&since, bytes) + bytes < atomic_load(&bytes_between))
        return;
    atomic_store(&since, 0);
    if (!granary_gc_is_open() && !is_to_begin())
        return;
    make_slice();
}

int GC_collect_a_little(void)
{
    granary_gc_enter();
    granary_gc_into_core();
    bool due = core_gc_should_collect();
    granary_gc_out_of_core();
    if (due || granary_gc_is_open()) {
        make_slice();
        granary_gc_run_finalizers_soon();
    }
    return granary_gc_is_open();
}
