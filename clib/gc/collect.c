/* The driver of a collection. The core does the work; here is what depends on threads and on the program:
 *
 *   1. The collector's lock is taken. What another thread collected meanwhile will do for an allocation.
 *   2. Toggles are asked about, the start callback is called.
 *   3. Under the loader's lock: the loaded objects are looked at, the world is stopped.
 *   4. The core is held. BeginCycle; uncollectable objects, static data, the hook for further roots, which marks the
 *      stacks, too; Drain with helpers; FinishMarking.
 *   5. The world goes on. StartSweep, and no core is held any more; Sort, in pieces, between which others allocate. A
 *      collection in slices is open until that is done, too.
 *   6. Without any lock: finalizers or their notifier, helpers if they are worth it, memory that is not needed.
 */
#include "collector.h"

#include <errno.h>
#include <limits.h>
#include <link.h>

struct cycle {
    const struct gc_request *request;
    uintptr_t sp; /* of the collecting thread; registers are above it */
    uint64_t stopped_at, marked_at, started_at;
    bool full, partial; /* asked for; what it became, as it began */
    bool stands;        /* the world, for the marking; false: nothing was done */
    bool done;          /* false: marking goes on in a later slice */
};

enum { LOCK_NANOSECONDS = 1000000000 };
/* What the open collection is at; PROTECTING before it begins (incremental.c). */
enum { NOT_OPEN, PROTECTING, MARKING, SORTING };
enum { SLICES_MOST = 2000 }; /* then a collection is finished, however long that takes */

_Atomic uint32_t granary_gc_markings;
_Atomic uint64_t granary_gc_total_pause, granary_gc_longest_pause;
uint64_t granary_gc_freed_before, granary_gc_reclaimed_before;
static uintptr_t driver_sp;
static bool stacks_are_marked;
static _Atomic uint32_t phase;
static struct cycle last; /* whose blocks are sorted, once marking is over */
static unsigned slices;   /* of the open collection, while it marks */
static int partial_ones;  /* since the last full collection */
static GC_start_callback_proc start_callback;
static GC_on_collection_event_proc on_event;

void GC_set_start_callback(GC_start_callback_proc callback) { start_callback = callback; }
GC_start_callback_proc GC_get_start_callback(void) { return start_callback; }
void GC_set_on_collection_event(GC_on_collection_event_proc callback) { on_event = callback; }
GC_on_collection_event_proc GC_get_on_collection_event(void) { return on_event; }

/* When a slice has to end; 0: it is none. */
static uint64_t deadline_of(const struct cycle *cycle)
{
    uint64_t limit;
    return cycle->request->slice && granary_gc_has_time_limit(&limit) ? cycle->stopped_at + limit : 0;
}

bool granary_gc_is_open(void) { return atomic_load_explicit(&phase, memory_order_relaxed) != NOT_OPEN; }

static void event(GC_EventType type)
{
    if (on_event != NULL)
        on_event(type);
}

/* What GC_push_other_roots is at the start. A hook of the program's calls it, or should: what it leaves out is marked
 * all the same. */
void granary_gc_mark_stacks(void)
{
    if (!granary_gc_world_stands() || stacks_are_marked)
        return;
    stacks_are_marked = true;
    for (struct gc_thread *thread = granary_gc_threads; thread != NULL; thread = thread->next)
        granary_gc_mark_thread(thread, driver_sp);
}

void granary_gc_mark_all_roots(void)
{
    stacks_are_marked = false;
    core_gc_mark_uncollectable();
    granary_gc_mark_roots();
    granary_gc_mark_left_behind();
    if (GC_push_other_roots != NULL)
        GC_push_other_roots();
    granary_gc_mark_stacks();
}

/* The collection begins: a partial one with what was written since the last, now or in slices. Returns false if it had
 * to be a full one as nobody knows what was. */
static bool begin(bool full, bool limited)
{
    core_gc_begin_cycle(full);
    if (!full && !limited && !granary_gc_writes_take(core_gc_rescan_block)) {
        core_gc_drain(0);
        core_gc_begin_cycle(true);
        full = true;
    }
    granary_gc_mark_all_roots();
    granary_gc_rounds_start(!full);
    return !full;
}

static void finish(void)
{
    bool known = granary_gc_rounds_know();
    if (phase == MARKING || !known) { /* what the program wrote, and the roots, are looked at once more */
        if (!known || !granary_gc_writes_start() || !granary_gc_writes_take(core_gc_rescan_block)) {
            core_gc_drain(0);
            core_gc_begin_cycle(true);
        }
        granary_gc_mark_all_roots();
    }
    core_gc_drain(0);
    granary_gc_dismiss_helpers();
    if (granary_gc_mark_from_dead())
        core_gc_drain(0);
    core_gc_finish_marking();
}

/* Marks, while the world stands. Returns false if time was up before the end. */
static bool mark(struct cycle *cycle)
{
    uint64_t deadline = deadline_of(cycle);
    bool begins = phase != MARKING;
    if (begins) {
        cycle->partial = begin(cycle->full, deadline != 0);
        slices = 0;
    }
    granary_gc_call_helpers();
    if (deadline != 0 && ++slices <= SLICES_MOST) {
        /* Helpers would make the slice shorter, but waiting for all of them to leave makes it longer. */
        granary_gc_dismiss_helpers();
        if (!granary_gc_mark_some(deadline)) {
            phase = MARKING;
            return false;
        }
    }
    finish();
    phase = NOT_OPEN;
    return true;
}

static void collect_standing(struct cycle *cycle)
{
    event(GC_EVENT_PRE_STOP_WORLD);
    cycle->stopped_at = granary_sys_now();
    cycle->stands = granary_gc_stop_world();
    if (!cycle->stands)
        return;
    event(GC_EVENT_POST_STOP_WORLD);
    driver_sp = cycle->sp;
    core_gc_hold();
    event(GC_EVENT_MARK_START);
    cycle->done = mark(cycle);
    if (cycle->done && GC_find_leak)
        granary_gc_leaks_look();
    event(GC_EVENT_MARK_END);
    cycle->marked_at = granary_sys_now();
    event(GC_EVENT_PRE_START_WORLD);
    granary_gc_start_world();
    cycle->started_at = granary_sys_now();
    event(GC_EVENT_POST_START_WORLD);
}

static int under_loaders_lock(struct dl_phdr_info *object, size_t bytes, void *cycle)
{
    (void)bytes;
    granary_gc_look_at_objects(object->dlpi_adds << 32 | object->dlpi_subs);
    collect_standing(cycle);
    return 1; /* one call will do */
}

static void ask_about_toggles(void)
{
    GC_toggleref_func ask = GC_get_toggleref_func();
    if (ask == NULL)
        return;
    uintptr_t cursor = 0, object;
    while ((object = core_gc_next_toggle(&cursor)) != 0) {
        int32_t state = (int32_t)ask((void *)object);
        core_gc_set_toggle(object, state);
        if (state == GC_TOGGLE_REF_DROP && cursor > 0)
            cursor--; /* another one may be in its place now */
    }
}

static void note_pause(const struct cycle *cycle)
{
    uint64_t pause = cycle->started_at - cycle->stopped_at;
    atomic_fetch_add(&granary_gc_total_pause, pause);
    if (pause > atomic_load(&granary_gc_longest_pause))
        atomic_store(&granary_gc_longest_pause, pause);
}

static void print_stats(const struct cycle *cycle)
{
    struct gc_core_stats stats;
    core_gc_read_stats(&stats);
    granary_gc_log("granary: collection %lu%s: %.3f ms stopped, %.3f ms of it marking, %lu KiB alive of %lu KiB, "
                   "heap %lu KiB, %lu KiB free, %u helpers\n",
                   GC_gc_no, partial_ones != 0 ? ", partial" : "",
                   (double)(cycle->started_at - cycle->stopped_at) / 1e6,
                   (double)(cycle->marked_at - cycle->stopped_at) / 1e6, stats.live >> 10, stats.before >> 10,
                   stats.heap >> 10, stats.free >> 10, granary_gc_helper_count());
    if (!granary_gc_options.print_more)
        return;
    struct gc_core_finalization final;
    core_gc_read_finalization(&final);
    granary_gc_log("granary:   next after %lu KiB; %u threads; %lu finalizers, %lu ready, %lu short and %lu long "
                   "links\n", stats.target >> 10, atomic_load(&granary_gc_thread_count), final.finalizers, final.ready,
                   final.short_links, final.long_links);
}

/* Figures that programs ask for relative to the last collection; the size of the heap, if it has changed. */
static void note_figures(void)
{
    static uint64_t told;
    struct gc_core_stats stats;
    core_gc_read_stats(&stats);
    granary_gc_freed_before = stats.freed;
    granary_gc_reclaimed_before += stats.before > stats.live ? stats.before - stats.live : 0;
    if (GC_on_heap_resize != NULL && stats.heap != told)
        GC_on_heap_resize(stats.heap);
    told = stats.heap;
}

/* With several threads that allocate a collection interrupts all of them: it comes when each has had its part. */
static uintptr_t least_target(void)
{
    const uintptr_t each = (uintptr_t)2 << 20;
    unsigned allocating = 0;
    for (struct gc_thread *thread = granary_gc_threads; thread != NULL; thread = thread->next)
        allocating += atomic_load_explicit(&thread->refilled_after, memory_order_relaxed) == granary_gc_markings + 1;
    return allocating > 1 ? each * allocating : 0;
}

/* A slice ends when its time is up, before all blocks are sorted perhaps. */
static void sort(const struct cycle *cycle)
{
    phase = SORTING;
    if (!core_gc_sort(deadline_of(cycle)))
        return;
    phase = NOT_OPEN;
    GC_gc_no++;
    event(GC_EVENT_RECLAIM_END);
    if (granary_gc_options.print_stats)
        print_stats(&last);
    note_figures();
    event(GC_EVENT_END);
}

static void sweep(const struct cycle *cycle)
{
    event(GC_EVENT_RECLAIM_START);
    core_gc_set_least_target(least_target());
    core_gc_start_sweep();
    core_gc_unhold();
    atomic_fetch_add(&granary_gc_markings, 1);
    last = *cycle;
    sort(cycle);
}

/* Before the world is stopped for the first time. Returns false if the time of a slice was up. */
static bool prepare(struct cycle *cycle)
{
    bool incremental = granary_gc_is_incremental() && granary_gc_writes_start(); /* anew in the child of a fork */
    if (phase == NOT_OPEN)
        granary_gc_plan_slices();
    cycle->full = cycle->request->full || !incremental || partial_ones >= GC_full_freq;
    if (incremental && cycle->full && !granary_gc_protect(deadline_of(cycle))) {
        phase = PROTECTING;
        return false;
    }
    phase = NOT_OPEN;
    ask_about_toggles();
    event(GC_EVENT_START);
    if (cycle->full && start_callback != NULL)
        start_callback();
    core_gc_set_java_finalization(GC_java_finalization != 0);
    if (GC_free_space_divisor != 0)
        core_gc_set_divisor(GC_free_space_divisor);
    return true;
}

static void run_cycle(struct cycle *cycle)
{
    bool begins = phase != MARKING;
    cycle->stopped_at = granary_sys_now();
    if (begins && !prepare(cycle))
        return;
    dl_iterate_phdr(under_loaders_lock, cycle);
    if (!cycle->stands) {
        if (begins && cycle->full)
            partial_ones = INT_MAX; /* what was written before granary_gc_protect is not known any more */
        event(GC_EVENT_END);
        return;
    }
    note_pause(cycle);
    if (begins)
        partial_ones = cycle->partial ? partial_ones + 1 : 0;
    if (cycle->done)
        sweep(cycle);
    else
        core_gc_unhold();
}

/* What the program asks for is a collection from now on: one that is going on is ended first. */
static void collect_locked(struct cycle *cycle)
{
    granary_gc_into_core();
    bool sorting = phase == SORTING;
    if (sorting) {
        cycle->stopped_at = granary_sys_now();
        sort(cycle);
    }
    if (phase == MARKING && cycle->request->full) {
        struct gc_request rest = {.full = true};
        struct cycle before = {.request = &rest, .sp = cycle->sp, .stands = true};
        run_cycle(&before);
    }
    if (!sorting || !cycle->request->slice)
        run_cycle(cycle);
    granary_gc_out_of_core();
}

static void *collect_here(void *argument, uintptr_t sp)
{
    struct cycle cycle = {.request = argument, .sp = sp, .stands = true};
    const struct gc_request *request = cycle.request;
    /* NULL from a callback that runs under the lock. An allocation does not wait for ever: its thread may hold the
     * loader's lock, in a callback of dl_iterate_phdr, for which the one who has our lock waits. */
    if (request->automatic ? !granary_gc_lock_unless_marked(request->before, LOCK_NANOSECONDS) : !granary_gc_lock())
        return request->automatic && granary_gc_markings != request->before ? argument : NULL;
    bool done = request->automatic && granary_gc_markings != request->before; /* by another thread */
    if (!done && GC_dont_gc <= 0 && (request->stop == NULL || request->stop() == 0)) {
        collect_locked(&cycle);
        done = cycle.stands;
    }
    granary_gc_unlock(true);
    return done ? argument : NULL;
}

static void give_back(const struct gc_request *request)
{
    struct gc_core_released released;
    uint64_t second = 1000000000u;
    granary_gc_into_core();
    core_gc_idle(granary_sys_now(), request->unmap ? 0 : second, &released);
    granary_gc_out_of_core();
}

static void *collect_active(void *request) { return granary_gc_collect(request) ? request : NULL; }

bool granary_gc_collect(const struct gc_request *request)
{
    granary_gc_enter();
    if (granary_gc_local.cache == 0 && granary_gc_local.self != NULL)
        return GC_call_with_gc_active(collect_active, (void *)request) != NULL;
    if (granary_gc_local.inside != 0 || granary_gc_local.self == NULL || !granary_gc_is_own_process())
        return false;
    int saved = errno, cancelling;
    /* A thread that is to be cancelled does not end in a function of the program that is called here. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    bool done = granary_gc_with_registers(collect_here, (void *)request) != NULL;
    if (done) {
        granary_gc_want_helpers();
        give_back(request);
        if (GC_find_leak)
            granary_gc_leaks_report();
    }
    pthread_setcancelstate(cancelling, NULL);
    errno = saved;
    return done;
}

/* With GRANARY_GC_VERIFY: the plain marker disagrees with the fast one. */
void granary_gc_marks_differ(uintptr_t object, uintptr_t bytes, uint32_t what)
{
    granary_fatal("granary: BUG: the object at %p, %lu bytes, is marked by the %s marker only\n", (void *)object, bytes,
                  what != 0 ? "plain" : "fast");
}
