/* Collecting: by hand, switched off, in part. */
#include "collector.h"

#include <sched.h>

static GC_stop_func stop_function;
static int unmap_always;

static int never_stop(void) { return 0; }

void GC_set_stop_func(GC_stop_func stop) { stop_function = stop; }
GC_stop_func GC_get_stop_func(void) { return stop_function != NULL ? stop_function : never_stop; }
void GC_set_force_unmap_on_gcollect(int value) { unmap_always = value != 0; }
int GC_get_force_unmap_on_gcollect(void) { return unmap_always; }

static int collect(GC_stop_func stop, bool unmap)
{
    granary_gc_enter();
    struct gc_request request = {.full = true, .unmap = unmap || unmap_always, .stop = stop};
    int done = granary_gc_collect(&request);
    granary_gc_run_finalizers_soon();
    return done;
}

void GC_gcollect(void) { collect(stop_function, false); }
void GC_gcollect_and_unmap(void) { collect(NULL, true); }
int GC_try_to_collect(GC_stop_func stop) { return collect(stop, false); }

void GC_disable(void)
{
    bool took = granary_gc_lock();
    GC_dont_gc++;
    granary_gc_unlock(took);
}

void GC_enable(void)
{
    bool took = granary_gc_lock();
    GC_dont_gc--;
    granary_gc_unlock(took);
}

int GC_is_disabled(void) { return GC_dont_gc != 0; }

int GC_expand_hp(size_t bytes)
{
    granary_gc_enter();
    granary_gc_into_core();
    bool done = core_gc_expand(bytes);
    granary_gc_out_of_core();
    return done;
}

void GC_alloc_lock(void)
{
    granary_gc_enter();
    granary_gc_lock();
}

void GC_alloc_unlock(void) { granary_gc_unlock(granary_gc_lock_is_mine()); }

void *GC_call_with_alloc_lock(GC_fn_type fn, void *data)
{
    granary_gc_enter();
    bool took = granary_gc_lock();
    void *result = fn(data);
    granary_gc_unlock(took);
    return result;
}

/* Between these two the program may look at the threads' memory; the lock stays taken. */
void GC_stop_world_external(void)
{
    granary_gc_enter();
    granary_gc_lock();
    while (!granary_gc_stop_world())
        sched_yield();
}

void GC_start_world_external(void)
{
    granary_gc_start_world();
    granary_gc_unlock(true);
}

/* All objects that the last collection has found. The lock is the caller's; fn must not allocate. */
void GC_enumerate_reachable_objects_inner(GC_reachable_object_proc fn, void *data)
{
    granary_gc_enter();
    granary_gc_into_core();
    bool held = core_gc_hold();
    for (uintptr_t object = 0; (object = core_gc_next_marked(object)) != 0;)
        fn((void *)object, core_gc_size_of(object), data);
    if (held)
        core_gc_unhold();
    granary_gc_out_of_core();
}
