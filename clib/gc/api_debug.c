/* Checked objects: allocated with the file and the line, and words in front and behind that an overrun destroys.
 *
 *   in front   file, line, size asked for, mark    32 bytes: GC_debug_header_size
 *   behind     mark                                from the first word behind the object to the end of its memory
 *
 * What the program gets is the address behind the front part, which keeps the object alive (a registered offset). */
#include "collector.h"

#include <stdio.h>
#include <string.h>

struct front {
    const char *file;
    uint64_t line;
    size_t bytes;
    uint64_t mark;
};

_Static_assert(sizeof(struct front) == 32, "GC_debug_header_size");

static const uint64_t FRONT_MARK = 0xfedcedcb4a5b9c8du, BACK_MARK = 0xbcdecdef2b3f7e91u;
static const uint64_t FREED_MARK = 0x00dead00feed0001u;

size_t GC_get_debug_header_size(void) { return sizeof(struct front); }

static uint64_t *back_of(struct front *front) /* the words behind the object */
{
    return (uint64_t *)((char *)(front + 1) + ((front->bytes + 7) & ~(size_t)7));
}

static uint64_t *end_of(struct front *front)
{
    return (uint64_t *)((char *)front + ((GC_size(front) - granary_gc_extra()) & ~(size_t)7));
}

/* The front part of a checked object, NULL if the address is none's. */
static struct front *front_of(const void *object)
{
    struct front *front = (struct front *)object - 1;
    if (object == NULL || GC_base((void *)object) != front)
        return NULL;
    return (front->mark ^ (uintptr_t)front) == FRONT_MARK ? front : NULL;
}

static void *check_in(void *memory, size_t bytes, const char *file, int line)
{
    struct front *front = memory;
    if (front == NULL)
        return NULL;
    GC_register_displacement(sizeof *front);
    *front = (struct front){file, (uint64_t)(int64_t)line, bytes, FRONT_MARK ^ (uintptr_t)front};
    uint64_t *end = end_of(front);
    for (uint64_t *at = back_of(front); at < end; at++)
        *at = BACK_MARK ^ (uintptr_t)front;
    return front + 1;
}

static bool too_large(size_t bytes) { return bytes > SIZE_MAX / 2; }

static size_t with_marks(size_t bytes) { return sizeof(struct front) + ((bytes + 7) & ~(size_t)7) + sizeof(uint64_t); }

static void *debug_malloc(size_t bytes, uint32_t kind, uint32_t flags, const char *file, int line)
{
    if (too_large(bytes))
        return GC_oom_fn(bytes);
    return check_in(granary_gc_allocate(with_marks(bytes), kind, flags), bytes, file, line);
}

void granary_gc_debug_describe(const void *base, char *text, size_t room)
{
    const struct front *front = base;
    text[0] = '\0';
    if (GC_size(base) > sizeof *front && (front->mark ^ (uintptr_t)front) == FRONT_MARK)
        snprintf(text, room, ", allocated at %s:%d, %zu bytes asked for", front->file != NULL ? front->file : "?",
                 (int)front->line, front->bytes);
}

/* Says what is wrong with a checked object. */
static bool is_sound(struct front *front, const char *who)
{
    uint64_t *end = end_of(front);
    for (uint64_t *at = back_of(front); at < end; at++)
        if (*at != (BACK_MARK ^ (uintptr_t)front)) {
            granary_message("granary: %s: %p: something was written behind the object, at %p "
                            "(allocated at %s:%d, %zu bytes)\n", who, (void *)(front + 1), (void *)at,
                            front->file != NULL ? front->file : "?", (int)front->line, front->bytes);
            return false;
        }
    return true;
}

void *GC_debug_malloc(size_t bytes, const char *file, int line)
{
    return debug_malloc(bytes, GC_KIND_NORMAL, 0, file, line);
}

void *GC_debug_malloc_atomic(size_t bytes, const char *file, int line)
{
    return debug_malloc(bytes, GC_KIND_POINTER_FREE, 0, file, line);
}

void *GC_debug_malloc_uncollectable(size_t bytes, const char *file, int line)
{
    return debug_malloc(bytes, GC_KIND_UNCOLLECTABLE, 0, file, line);
}

void *GC_debug_malloc_atomic_uncollectable(size_t bytes, const char *file, int line)
{
    return debug_malloc(bytes, GC_KIND_POINTER_FREE_UNCOLLECTABLE, 0, file, line);
}

void *GC_debug_malloc_stubborn(size_t bytes, const char *file, int line) { return GC_debug_malloc(bytes, file, line); }

void *GC_debug_malloc_ignore_off_page(size_t bytes, const char *file, int line)
{
    return debug_malloc(bytes, GC_KIND_NORMAL, GC_ALLOC_IGNORE_OFF_PAGE, file, line);
}

void *GC_debug_malloc_atomic_ignore_off_page(size_t bytes, const char *file, int line)
{
    return debug_malloc(bytes, GC_KIND_POINTER_FREE, GC_ALLOC_IGNORE_OFF_PAGE, file, line);
}

void *GC_debug_generic_or_special_malloc(size_t bytes, int kind, const char *file, int line)
{
    return debug_malloc(bytes, (uint32_t)kind, 0, file, line);
}

void *GC_debug_malloc_replacement(size_t bytes) { return GC_debug_malloc(bytes, "unknown", 0); }

void *GC_debug_gcj_malloc(size_t bytes, void *type, const char *file, int line)
{
    if (GC_gcj_kind == 0)
        granary_gc_abort("GC_debug_gcj_malloc: GC_init_gcj_malloc comes first");
    void **object = debug_malloc(bytes < sizeof type ? sizeof type : bytes, (uint32_t)GC_gcj_debug_kind, 0, file, line);
    if (object != NULL)
        *object = type;
    return object;
}

/* A freed object is marked, so that the second time is found. */
void GC_debug_free(void *object)
{
    if (object == NULL)
        return;
    struct front *front = front_of(object);
    if (front == NULL) {
        struct front *maybe = GC_base(object);
        bool freed = maybe != NULL && (struct front *)object - 1 == maybe && maybe->mark == FREED_MARK;
        if (freed)
            granary_message("granary: GC_debug_free: %p was freed before (allocated at %s:%d)\n", object,
                            maybe->file != NULL ? maybe->file : "?", (int)maybe->line);
        else if (maybe == object)
            GC_free(object); /* allocated without checks */
        else
            granary_message("granary: GC_debug_free: %p is not a checked object\n", object);
        return;
    }
    is_sound(front, "GC_debug_free");
    uint32_t kind = core_gc_kind_of((uintptr_t)front);
    if (GC_find_leak != 0 || kind == GC_KIND_UNCOLLECTABLE || kind == GC_KIND_POINTER_FREE_UNCOLLECTABLE) {
        front->mark = FREED_MARK;
        GC_free(front);
        return;
    }
    /* A collection takes it, once nobody refers to it any more: a use after this is seen by its contents. */
    front->mark = FREED_MARK;
    memset(front + 1, 0xef, front->bytes);
}

void *GC_debug_realloc(void *object, size_t bytes, const char *file, int line)
{
    if (object == NULL)
        return GC_debug_malloc(bytes, file, line);
    if (bytes == 0) {
        GC_debug_free(object);
        return NULL;
    }
    struct front *front = front_of(object);
    if (front == NULL) {
        if (GC_base(object) == object)
            return GC_realloc(object, bytes);
        granary_message("granary: GC_debug_realloc: %p is not a checked object\n", object);
        return NULL;
    }
    is_sound(front, "GC_debug_realloc");
    void *moved = debug_malloc(bytes, core_gc_kind_of((uintptr_t)front), 0, file, line);
    if (moved == NULL)
        return NULL;
    memcpy(moved, object, front->bytes < bytes ? front->bytes : bytes);
    GC_debug_free(object);
    return moved;
}

void *GC_debug_realloc_replacement(void *object, size_t bytes) { return GC_debug_realloc(object, bytes, "unknown", 0); }

char *GC_debug_strndup(const char *text, size_t most, const char *file, int line)
{
    size_t length = strnlen(text, most);
    char *copy = GC_debug_malloc_atomic(length + 1, file, line);
    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

char *GC_debug_strdup(const char *text, const char *file, int line)
{
    return text == NULL ? NULL : GC_debug_strndup(text, SIZE_MAX - 1, file, line);
}

void GC_debug_change_stubborn(const void *object) { (void)object; }

void GC_debug_end_stubborn_change(const void *object)
{
    void *base = GC_base((void *)object);
    if (base == NULL)
        granary_gc_abort("GC_debug_end_stubborn_change: not an object");
    GC_end_stubborn_change(base);
}

void GC_debug_ptr_store_and_dirty(void *to, const void *value) { GC_ptr_store_and_dirty(GC_is_visible(to), value); }

void GC_debug_register_displacement(size_t offset)
{
    GC_register_displacement(offset);
    GC_register_displacement(sizeof(struct front) + offset);
}

/* ---- finalizers: the function gets the address that the program knows ---- */

struct closure {
    GC_finalization_proc fn;
    void *data;
};

static void call_closure(void *object, void *data)
{
    struct closure *closure = data;
    closure->fn((struct front *)object + 1, closure->data);
}

typedef void (*registrar)(void *, GC_finalization_proc, void *, GC_finalization_proc *, void **);

static void register_checked(registrar to, void *object, GC_finalization_proc fn, void *data,
                             GC_finalization_proc *old_fn, void **old_data)
{
    struct front *front = front_of(object);
    struct closure *closure = NULL;
    GC_finalization_proc before = NULL;
    void *before_data = NULL;
    if (old_fn != NULL)
        *old_fn = NULL;
    if (old_data != NULL)
        *old_data = NULL;
    if (front == NULL) {
        granary_message("granary: GC_debug_register_finalizer: %p is not a checked object\n", object);
        return;
    }
    if (fn != NULL) {
        closure = GC_malloc(sizeof *closure);
        if (closure == NULL)
            return;
        *closure = (struct closure){fn, data};
    }
    to(front, fn != NULL ? call_closure : NULL, closure, &before, &before_data);
    bool checked = before == call_closure && before_data != NULL;
    if (old_fn != NULL)
        *old_fn = checked ? ((struct closure *)before_data)->fn : before;
    if (old_data != NULL)
        *old_data = checked ? ((struct closure *)before_data)->data : before_data;
}

#define REGISTER(name)                                                                                            \
    void GC_debug_##name(void *object, GC_finalization_proc fn, void *data, GC_finalization_proc *old_fn,         \
                         void **old_data)                                                                         \
    {                                                                                                             \
        register_checked(GC_##name, object, fn, data, old_fn, old_data);                                          \
    }

REGISTER(register_finalizer)
REGISTER(register_finalizer_ignore_self)
REGISTER(register_finalizer_no_order)
REGISTER(register_finalizer_unreachable)
