/* Find-leak mode: objects that the program has not freed and nobody can reach any more are reported, and kept.
 *
 * All objects that the program allocates are in a table, with open addressing; GC_free takes them out. A collection
 * reports those which it has not marked. They stay out of the table, so that each is reported once. */
#include "collector.h"

#include <string.h>
#include <sys/mman.h>

enum { TYPE_DESCRIPTION_BYTES = 40 }; /* GC_TYPE_DESCR_LEN of gc_mark.h */

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

/* What an object is, in the words of whoever registered a describer for its kind, which may write so many bytes and is
 * called with the lock held. */
static const char *type_of(uintptr_t object, uint32_t kind, char text[static TYPE_DESCRIPTION_BYTES + 1])
{
    GC_describe_type_fn describe = granary_gc_describer(kind);
    if (describe != NULL) {
        memset(text, 0, TYPE_DESCRIPTION_BYTES + 1);
        describe((void *)object, text);
        text[TYPE_DESCRIPTION_BYTES] = 0;
        return text;
    }
    return kind == GC_KIND_POINTER_FREE || kind == GC_KIND_POINTER_FREE_UNCOLLECTABLE ? "pointer-free" : "composite";
}

void granary_gc_leaks_report(void)
{
    bool took = granary_gc_lock();
    for (size_t i = 0; i < lost.count; i++) {
        uintptr_t object = lost.list[i];
        uint32_t kind = core_gc_kind_of(object);
        char type[TYPE_DESCRIPTION_BYTES + 1], where[200];
        granary_gc_debug_describe((void *)object, where, sizeof where);
        granary_message("granary: leaked %s object at %p, %zu bytes%s\n", type_of(object, kind, type), (void *)object,
                        core_gc_size_of(object), where);
    }
    lost.count = 0;
    granary_gc_unlock(took);
}
