/* Finalizers, weak links, toggles. */
#include "collector.h"

static GC_await_finalize_proc await_finalize;
static GC_toggleref_func toggle;

void GC_set_await_finalize_proc(GC_await_finalize_proc fn) { await_finalize = fn; }
GC_await_finalize_proc GC_get_await_finalize_proc(void) { return await_finalize; }
void GC_set_toggleref_func(GC_toggleref_func fn) { toggle = fn; }
GC_toggleref_func GC_get_toggleref_func(void) { return toggle; }

/* ---- finalizers ---- */

/* As in bdwgc an object that is not of the heap never dies, and its finalizer is forgotten at once. */
static void register_finalizer(void *object, GC_finalization_proc fn, void *data, GC_finalization_proc *old_fn,
                               void **old_data, uint32_t order)
{
    granary_gc_enter();
    uintptr_t old[2] = {0, 0};
    granary_gc_into_core();
    bool done = core_gc_register_finalizer((uintptr_t)object, (uintptr_t)fn, (uintptr_t)data, order, old);
    bool is_object = done || core_gc_base_of((uintptr_t)object) == (uintptr_t)object;
    granary_gc_out_of_core();
    if (!done && is_object)
        GC_oom_fn(sizeof old);
    if (old_fn != NULL)
        *old_fn = (GC_finalization_proc)old[0];
    if (old_data != NULL)
        *old_data = (void *)old[1];
}

void GC_register_finalizer(void *object, GC_finalization_proc fn, void *data, GC_finalization_proc *old_fn,
                           void **old_data)
{
    register_finalizer(object, fn, data, old_fn, old_data, GC_ORDER_NORMAL);
}

void GC_register_finalizer_ignore_self(void *object, GC_finalization_proc fn, void *data,
                                       GC_finalization_proc *old_fn, void **old_data)
{
    register_finalizer(object, fn, data, old_fn, old_data, GC_ORDER_IGNORE_SELF);
}

void GC_register_finalizer_no_order(void *object, GC_finalization_proc fn, void *data,
                                    GC_finalization_proc *old_fn, void **old_data)
{
    register_finalizer(object, fn, data, old_fn, old_data, GC_ORDER_NONE);
}

void GC_register_finalizer_unreachable(void *object, GC_finalization_proc fn, void *data,
                                       GC_finalization_proc *old_fn, void **old_data)
{
    register_finalizer(object, fn, data, old_fn, old_data, GC_ORDER_UNREACHABLE);
}

int GC_should_invoke_finalizers(void)
{
    return atomic_load(&granary_gc_started) && core_gc_ready_count() != 0;
}

static bool take_ready(uintptr_t ready[3])
{
    granary_gc_into_core();
    bool have = core_gc_next_ready(ready);
    granary_gc_out_of_core();
    return have;
}

int GC_invoke_finalizers(void)
{
    int count = 0;
    uintptr_t ready[3]; /* on the stack: keeps the object alive while its finalizer runs */
    granary_gc_enter();
    granary_gc_local.finalizing++;
    while (take_ready(ready)) {
        GC_finalization_proc fn = (GC_finalization_proc)ready[1];
        fn((void *)ready[0], (void *)ready[2]);
        __asm__ volatile("" ::"r"(ready) : "memory");
        count++;
    }
    granary_gc_local.finalizing--;
    return count;
}

/* Behind allocations and collections: without any lock of ours. Finalizers that allocate do not nest without end: at
 * depth n only every 2^n-th call runs some. */
void granary_gc_run_finalizers_soon(void)
{
    static _Atomic uint64_t told_of; /* the collection after which the notifier was called */
    struct gc_local *local = &granary_gc_local;
    if (LIKELY(core_gc_ready_count() == 0) || local->inside != 0 || granary_gc_lock_is_mine())
        return;
    if (GC_finalize_on_demand != 0) {
        GC_finalizer_notifier_proc notify = GC_finalizer_notifier;
        uint64_t number = GC_gc_no;
        if (notify != NULL && atomic_exchange(&told_of, number) != number)
            notify();
        return;
    }
    if (local->finalizing != 0) {
        uint32_t skip = local->finalizing < 16 ? 1u << local->finalizing : 1u << 16;
        if (++local->skipped < skip)
            return;
        local->skipped = 0;
    }
    GC_invoke_finalizers();
}

/* Runs all that are registered, also of objects in use: for programs that end. */
void GC_finalize_all(void)
{
    granary_gc_enter();
    do {
        granary_gc_into_core();
        core_gc_ready_all();
        granary_gc_out_of_core();
    } while (GC_invoke_finalizers() != 0);
}

/* ---- links ---- */

static int register_link(void **link, const void *object, bool is_long)
{
    granary_gc_enter();
    if (((uintptr_t)link & (sizeof *link - 1)) != 0)
        granary_gc_abort("a weak link is registered that is not aligned to a word");
    granary_gc_into_core();
    int result = core_gc_register_link((uintptr_t)link, (uintptr_t)object, is_long);
    granary_gc_out_of_core();
    return result;
}

static int unregister_link(void **link, bool is_long)
{
    granary_gc_enter();
    granary_gc_into_core();
    int was = ((uintptr_t)link & (sizeof *link - 1)) == 0 && core_gc_unregister_link((uintptr_t)link, is_long);
    granary_gc_out_of_core();
    return was;
}

static int move_link(void **from, void **to, bool is_long)
{
    granary_gc_enter();
    if (((uintptr_t)to & (sizeof *to - 1)) != 0)
        granary_gc_abort("a weak link is moved to where it is not aligned to a word");
    if (((uintptr_t)from & (sizeof *from - 1)) != 0)
        return GC_NOT_FOUND;
    granary_gc_into_core();
    int result = core_gc_move_link((uintptr_t)from, (uintptr_t)to, is_long);
    granary_gc_out_of_core();
    return result;
}

int GC_register_disappearing_link(void **link)
{
    granary_gc_enter();
    void *base = GC_base(link);
    if (base == NULL)
        granary_gc_abort("GC_register_disappearing_link: the link is not in an object of the heap");
    return register_link(link, base, false);
}

int GC_general_register_disappearing_link(void **link, const void *object)
{
    return register_link(link, object, false);
}

int GC_unregister_disappearing_link(void **link) { return unregister_link(link, false); }
int GC_move_disappearing_link(void **from, void **to) { return move_link(from, to, false); }
int GC_register_long_link(void **link, const void *object) { return register_link(link, object, true); }
int GC_unregister_long_link(void **link) { return unregister_link(link, true); }
int GC_move_long_link(void **from, void **to) { return move_link(from, to, true); }

/* ---- toggles ---- */

int GC_toggleref_add(void *object, int is_strong)
{
    granary_gc_enter();
    if (toggle == NULL)
        granary_gc_abort("GC_toggleref_add: GC_set_toggleref_func comes first");
    granary_gc_into_core();
    bool done = core_gc_set_toggle((uintptr_t)object, is_strong ? GC_TOGGLE_REF_STRONG : GC_TOGGLE_REF_WEAK);
    granary_gc_out_of_core();
    return done ? GC_SUCCESS : GC_NO_MEMORY;
}
