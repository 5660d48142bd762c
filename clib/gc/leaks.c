/* Find-leak mode: objects that the program has not freed and nobody can reach any more are reported, and kept.
 *
 * All objects that the program allocates are in a table, with open addressing; GC_free takes them out. A collection
 * reports those which it has not marked. They stay out of the table, so that each is reported once. */
#include "collector.h"

#include <string.h>
#include <sys/mman.h>

static uintptr_t *slots; /* 0: never used, 1: taken out */
static size_t slot_count, used;
static struct {
    uintptr_t *list;
    size_t count, room;
} lost;

static size_t slot_of(uintptr_t object) { return (size_t)(object * 0x9e3779b97f4a7c15u >> 20) & (slot_count - 1); }

static void insert(uintptr_t object)
{
    size_t at = slot_of(object);
    while (slots[at] > 1)
        at = (at + 1) & (slot_count - 1);
    used += slots[at] == 0;
    slots[at] = object;
}

static bool make_larger(void)
{
    size_t old_count = slot_count, kept = 0;
    uintptr_t *old = slots;
    for (size_t i = 0; i < old_count; i++)
        kept += old[i] > 1;
    size_t count = kept * 4 < 4096 ? 4096 : old_count;
    while (count < kept * 4)
        count *= 2;
    uintptr_t *fresh = granary_gc_pages(count * sizeof *fresh);
    if (fresh == NULL)
        return false;
    slots = fresh;
    slot_count = count;
    used = 0;
    for (size_t i = 0; i < old_count; i++)
        if (old[i] > 1)
            insert(old[i]);
    if (old != NULL)
        munmap(old, old_count * sizeof *old);
    return true;
}

void granary_gc_leaks_add(void *object)
{
    if (object == NULL)
        return;
    bool took = granary_gc_lock();
    if (used * 2 < slot_count || make_larger())
        insert((uintptr_t)object);
    granary_gc_unlock(took);
}

void granary_gc_leaks_remove(void *object)
{
    bool took = granary_gc_lock();
    if (slot_count != 0)
        for (size_t at = slot_of((uintptr_t)object); slots[at] != 0; at = (at + 1) & (slot_count - 1))
            if (slots[at] == (uintptr_t)object) {
                slots[at] = 1;
                break;
            }
    granary_gc_unlock(took);
}

void granary_gc_leaks_look(void)
{
    for (size_t i = 0; i < slot_count; i++) {
        if (slots[i] <= 1 || core_gc_is_marked(slots[i]))
            continue;
        if (granary_gc_room((void **)&lost.list, &lost.room, lost.count, sizeof *lost.list))
            lost.list[lost.count++] = slots[i];
        core_gc_set_mark(slots[i]); /* what it holds is reported in the same collection */
        slots[i] = 1;
    }
}

void granary_gc_leaks_report(void)
{
    bool took = granary_gc_lock();
    for (size_t i = 0; i < lost.count; i++) {
        uintptr_t object = lost.list[i];
        uint32_t kind = core_gc_kind_of(object);
        bool plain = kind == GC_KIND_POINTER_FREE || kind == GC_KIND_POINTER_FREE_UNCOLLECTABLE;
        char where[200];
        granary_gc_debug_describe((void *)object, where, sizeof where);
        granary_message("granary: leaked %s object at %p, %zu bytes%s\n", plain ? "pointer-free" : "composite",
                        (void *)object, core_gc_size_of(object), where);
    }
    lost.count = 0;
    granary_gc_unlock(took);
}
