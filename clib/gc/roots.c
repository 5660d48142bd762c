/* Roots in static data: the writable segments of the program and of all loaded libraries, and ranges that the program
 * names.
 *
 * The loader's list is walked under its lock, which is held on while the world stands (collect.c): no library comes or
 * goes before marking is over, and no thread is stopped in the middle of a change. The list is taken down anew only
 * when the loader's counters of changes differ. */
#include "collector.h"

#include <link.h>
#include <string.h>

struct range {
    uintptr_t low, high;
};

struct ranges {
    struct range *list;
    size_t count, room;
};

static struct ranges named;      /* by GC_add_roots */
static struct ranges excluded;   /* by GC_exclude_static_roots */
static struct ranges loaded;     /* segments of objects */
static GC_has_static_roots_func filter;
static bool look_again = true; /* settings changed that decide what is taken down */
static unsigned long long changes_seen;

#define WORD_MASK (~(uintptr_t)7)
#define PAGE_MASK (~(uintptr_t)4095)

static bool add(struct ranges *to, uintptr_t low, uintptr_t high)
{
    if (low >= high)
        return true;
    if (!granary_gc_room((void **)&to->list, &to->room, to->count, sizeof *to->list))
        return false;
    to->list[to->count++] = (struct range){low, high};
    return true;
}

static void drop(struct ranges *from, size_t index) { from->list[index] = from->list[--from->count]; }

/* ---- the loader's objects ---- */

static bool holds(const struct dl_phdr_info *object, uintptr_t address)
{
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && address - (object->dlpi_addr + part->p_vaddr) < part->p_memsz)
            return true;
    }
    return false;
}

/* What the loader has made read-only again holds nothing that the program has written. */
static struct range read_only_part(const struct dl_phdr_info *object)
{
    struct range part = {0, 0};
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_GNU_RELRO) {
            part.low = (object->dlpi_addr + object->dlpi_phdr[i].p_vaddr) & PAGE_MASK;
            part.high = (object->dlpi_addr + object->dlpi_phdr[i].p_vaddr + object->dlpi_phdr[i].p_memsz) & PAGE_MASK;
        }
    return part;
}

static void add_without(uintptr_t low, uintptr_t high, struct range hole)
{
    if (hole.low >= high || hole.high <= low || hole.low >= hole.high) {
        add(&loaded, low, high);
        return;
    }
    if (hole.low > low)
        add(&loaded, low, hole.low);
    if (hole.high < high)
        add(&loaded, hole.high, high);
}

static int take_down(struct dl_phdr_info *object, size_t bytes, void *unused)
{
    (void)bytes;
    (void)unused;
    if (holds(object, (uintptr_t)&loaded))
        return 0; /* this library */
    struct range read_only = read_only_part(object);
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_TLS)
            granary_gc_tls_add(object->dlpi_tls_modid, part->p_memsz, object->dlpi_tls_data);
        if (part->p_type != PT_LOAD || (part->p_flags & PF_W) == 0 || GC_no_dls != 0)
            continue;
        uintptr_t low = (object->dlpi_addr + part->p_vaddr + 7) & WORD_MASK;
        uintptr_t high = (object->dlpi_addr + part->p_vaddr + part->p_memsz) & WORD_MASK;
        if (low < high && (filter == NULL || filter(object->dlpi_name, (void *)low, high - low) != 0))
            add_without(low, high, read_only);
    }
    return 0;
}

void granary_gc_look_at_objects(unsigned long long changes)
{
    static int last_no_dls;
    if (!look_again && changes == changes_seen && last_no_dls == GC_no_dls && filter == NULL)
        return;
    loaded.count = 0;
    granary_gc_tls_forget();
    dl_iterate_phdr(take_down, NULL);
    look_again = false;
    changes_seen = changes;
    last_no_dls = GC_no_dls;
}

/* ---- marking ---- */

/* A range without the parts that the program has excluded. */
static void mark_without_excluded(uintptr_t low, uintptr_t high)
{
    while (low < high) {
        uintptr_t end = high, next = high;
        for (size_t i = 0; i < excluded.count; i++) {
            struct range hole = excluded.list[i];
            if (hole.high <= low || hole.low >= end)
                continue;
            end = hole.low > low ? hole.low : low;
            next = hole.high;
        }
        if (end > low)
            core_gc_mark_range(low, end);
        low = next;
    }
}

void granary_gc_mark_roots(void)
{
    for (size_t i = 0; i < loaded.count; i++)
        mark_without_excluded(loaded.list[i].low, loaded.list[i].high);
    for (size_t i = 0; i < named.count; i++)
        mark_without_excluded(named.list[i].low, named.list[i].high);
}

/* ---- what the program names ---- */

void GC_add_roots(void *from, void *to)
{
    granary_gc_enter();
    uintptr_t low = ((uintptr_t)from + 7) & WORD_MASK, high = (uintptr_t)to & WORD_MASK;
    bool took = granary_gc_lock(), done = true;
    size_t i = 0;
    while (i < named.count && !(named.list[i].low <= low && named.list[i].high >= high))
        i++;
    if (i == named.count) {
        for (i = named.count; i > 0; i--) /* those that lie inside of the new one */
            if (named.list[i - 1].low >= low && named.list[i - 1].high <= high)
                drop(&named, i - 1);
        done = add(&named, low, high);
    }
    granary_gc_unlock(took);
    if (!done)
        granary_gc_abort("GC_add_roots: no memory");
}

void GC_remove_roots(void *from, void *to)
{
    granary_gc_enter();
    uintptr_t low = ((uintptr_t)from + 7) & WORD_MASK, high = (uintptr_t)to & WORD_MASK;
    bool took = granary_gc_lock();
    for (size_t i = named.count; i > 0; i--)
        if (named.list[i - 1].low >= low && named.list[i - 1].high <= high)
            drop(&named, i - 1);
    granary_gc_unlock(took);
}

void GC_clear_roots(void)
{
    granary_gc_enter();
    bool took = granary_gc_lock();
    named.count = 0;
    granary_gc_unlock(took);
}

void GC_exclude_static_roots(void *from, void *to)
{
    granary_gc_enter();
    bool took = granary_gc_lock();
    bool done = add(&excluded, (uintptr_t)from & WORD_MASK, ((uintptr_t)to + 7) & WORD_MASK);
    granary_gc_unlock(took);
    if (!done)
        granary_gc_abort("GC_exclude_static_roots: no memory");
}

void GC_clear_exclusion_table(void)
{
    granary_gc_enter();
    bool took = granary_gc_lock();
    excluded.count = 0;
    granary_gc_unlock(took);
}

void GC_register_has_static_roots_callback(GC_has_static_roots_func callback)
{
    bool took = granary_gc_lock();
    filter = callback;
    look_again = true;
    granary_gc_unlock(took);
}

int GC_is_tmp_root(void *address)
{
    for (size_t i = 0; i < loaded.count; i++)
        if ((uintptr_t)address - loaded.list[i].low < loaded.list[i].high - loaded.list[i].low)
            return 1;
    return 0;
}

static int look_now(struct dl_phdr_info *object, size_t bytes, void *unused)
{
    (void)bytes;
    (void)unused;
    granary_gc_look_at_objects(object->dlpi_adds << 32 | object->dlpi_subs);
    return 1;
}

bool granary_gc_is_root(uintptr_t address)
{
    bool took = granary_gc_lock();
    dl_iterate_phdr(look_now, NULL);
    bool found = GC_is_tmp_root((void *)address) != 0;
    for (size_t i = 0; i < named.count && !found; i++)
        found = address >= named.list[i].low && address < named.list[i].high;
    granary_gc_unlock(took);
    return found;
}

/* ---- what the hook for further roots may call ---- */

static void push(void *from, void *to)
{
    if (granary_gc_world_stands() && from < to)
        core_gc_mark_range(((uintptr_t)from + 7) & WORD_MASK, (uintptr_t)to & WORD_MASK);
}

void GC_push_all(void *from, void *to) { push(from, to); }
void GC_push_all_eager(void *from, void *to) { push(from, to); }

void GC_push_conditional(void *from, void *to, int all)
{
    (void)all; /* what did not change since is cheap to mark again, and must be in a full collection */
    push(from, to);
}

void GC_push_finalizer_structures(void) {} /* the core keeps these outside of all objects, and marks what they hold */

void GC_set_push_other_roots(GC_push_other_roots_proc hook) { GC_push_other_roots = hook; }
GC_push_other_roots_proc GC_get_push_other_roots(void) { return GC_push_other_roots; }
