/* Questions about addresses and objects. */
#include "collector.h"

void *GC_base(void *address)
{
    return atomic_load(&granary_gc_started) ? (void *)core_gc_base_of((uintptr_t)address) : NULL;
}

size_t GC_size(const void *object)
{
    return atomic_load(&granary_gc_started) ? core_gc_size_of((uintptr_t)object) : 0;
}

int GC_is_heap_ptr(const void *address)
{
    return atomic_load(&granary_gc_started) && core_gc_base_of((uintptr_t)address) != 0;
}

int GC_get_kind_and_size(const void *object, size_t *bytes)
{
    if (bytes != NULL)
        *bytes = GC_size(object);
    return (int)core_gc_kind_of((uintptr_t)object);
}

int GC_is_marked(const void *object) { return core_gc_is_marked((uintptr_t)object); }

/* Marks mean something while the world stands. */
void GC_set_mark_bit(const void *object)
{
    if (granary_gc_world_stands())
        core_gc_set_mark((uintptr_t)object);
}

void GC_clear_mark_bit(const void *object)
{
    if (granary_gc_world_stands())
        core_gc_clear_mark((uintptr_t)object);
}

/* ---- checks of the program's own arithmetic ---- */

void *GC_same_obj(void *a, void *b)
{
    void *base = GC_base(b);
    if (base == NULL ? (uintptr_t)a / GC_BLOCK_BYTES != (uintptr_t)b / GC_BLOCK_BYTES && GC_base(a) != NULL
                     : GC_base(a) != base && (char *)a != (char *)base + GC_size(base))
        GC_same_obj_print_proc(a, b);
    return a;
}

void *GC_is_valid_displacement(void *address)
{
    char *base = GC_base(address);
    if (base != NULL && base != (char *)address && GC_all_interior_pointers == 0
        && !granary_gc_is_displacement((size_t)((char *)address - base)))
        GC_is_valid_displacement_print_proc(address);
    return address;
}

/* Is what lies there scanned: a stack, static data, an object that is not free of pointers? */
void *GC_is_visible(void *address)
{
    granary_gc_enter();
    struct gc_thread *self = granary_gc_local.self;
    uintptr_t at = (uintptr_t)address;
    bool visible = self != NULL && at >= self->stack_low && at < self->stack_high;
    if (!visible && GC_base(address) != NULL) {
        uint32_t kind = core_gc_kind_of(at);
        visible = kind != GC_KIND_POINTER_FREE && kind != GC_KIND_POINTER_FREE_UNCOLLECTABLE;
    } else if (!visible) {
        visible = granary_gc_is_root(at);
    }
    if (!visible)
        GC_is_visible_print_proc(address);
    return address;
}

void *GC_pre_incr(void **variable, ptrdiff_t by)
{
    char *before = *variable;
    return *variable = GC_same_obj(before + by, before);
}

void *GC_post_incr(void **variable, ptrdiff_t by)
{
    char *before = *variable;
    *variable = GC_same_obj(before + by, before);
    return before;
}

/* ---- what bdwgc's clients call around writes, and to hide values from the compiler ---- */

void GC_change_stubborn(const void *object) { (void)object; }

void GC_end_stubborn_change(const void *object) { granary_gc_note_write(object); }

void GC_ptr_store_and_dirty(void *to, const void *value)
{
    *(const void *volatile *)to = value;
    granary_gc_note_write(to);
}

void GC_noop1(GC_word value) { __asm__ volatile("" ::"r"(value) : "memory"); }

/* Stale words below the stack pointer are not scanned: only what lies above it is. */
void *GC_clear_stack(void *value) { return value; }
