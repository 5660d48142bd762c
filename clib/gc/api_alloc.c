/* Allocation and explicit freeing. */
#include "collector.h"

#include <errno.h>
#include <string.h>

size_t granary_gc_extra(void) { return GC_all_interior_pointers != 0 ? 1 : 0; }

/* ---- the slow path ---- */

static void *out_of_memory(size_t bytes)
{
    struct gc_core_stats stats;
    granary_gc_into_core();
    core_gc_read_stats(&stats);
    granary_gc_out_of_core();
    granary_gc_warn("Out of memory: the heap has %lu KiB and may not or cannot grow\n", stats.heap >> 10);
    return GC_oom_fn(bytes);
}

/* What the core does not give without a collection, or not at all. attempts counts collections that did not help,
 * before is the number of all markings as the core was asked. What a collection frees other threads may use up before
 * this one runs again: that is no reason to make the heap larger, but to collect once more. */
static bool make_room(uint32_t need, uint32_t before, uint32_t *flags, unsigned *attempts)
{
    enum { ATTEMPTS_BEFORE_GROWTH = 4 };
    bool first = need == GC_NEED_COLLECT && *attempts == 0;
    struct gc_request request = {.automatic = first, .before = before, .slice = first, .full = !first};
    bool open = first && granary_gc_is_open(); /* it goes on in slices, and this allocation takes new memory */
    if (need == GC_NEED_COLLECT && (open || GC_dont_gc > 0 || GC_get_disable_automatic_collection() != 0)) {
        *flags |= GC_ALLOC_EXPAND;
        return true;
    }
    if (need == GC_NEED_MEMORY && *attempts < ATTEMPTS_BEFORE_GROWTH)
        *attempts = ATTEMPTS_BEFORE_GROWTH;
    if (need == GC_NEED_MEMORY && (*attempts > GC_max_retries + ATTEMPTS_BEFORE_GROWTH + 1 || GC_dont_gc > 0))
        return false;
    ++*attempts;
    if (!granary_gc_collect(&request)) {
        bool tried = (*flags & GC_ALLOC_EXPAND) != 0;
        *flags |= GC_ALLOC_EXPAND;
        return !tried;
    }
    if (*attempts > ATTEMPTS_BEFORE_GROWTH || granary_gc_is_open())
        *flags |= GC_ALLOC_EXPAND;
    return true;
}

/* A thread that has said it is blocked (GC_do_blocking) allocates all the same: it is active for that long. */
struct blocked_call {
    size_t bytes;
    uint32_t kind, flags;
};

static void *allocate_active(void *argument)
{
    struct blocked_call *call = argument;
    return granary_gc_allocate(call->bytes, call->kind, call->flags);
}

/* Clears stack below the stack pointer now and then. What returned calls left there would be found by later
 * collections, in words of later frames that nobody writes: a dead tree is then kept by one of them. */
static __attribute__((noinline)) void clear_dead_stack(const struct gc_local *local)
{
    enum { OFTEN = 4, OFTEN_BYTES = 1 << 10, SELDOM = 64, SELDOM_BYTES = 16 << 10, ROOM = 16 << 10 };
    static __thread unsigned calls;
    if (++calls % OFTEN != 0)
        return;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    size_t bytes = calls % SELDOM == 0 ? SELDOM_BYTES : OFTEN_BYTES;
    if (local->self == NULL || here - local->self->stack_low < bytes + ROOM || here >= local->self->stack_high)
        return; /* an alternate stack, a fiber's, or nearly full */
    void *below = __builtin_alloca(bytes);
    memset(below, 0, bytes);
    __asm__ volatile("" ::"r"(below) : "memory");
}

/* What follows when the core has given objects, so many bytes or a few more. */
static void after_slow_path(struct gc_local *local, size_t bytes)
{
    granary_gc_stop_if_asked();
    if (LIKELY(local->self != NULL))
        atomic_store_explicit(&local->self->refilled_after, granary_gc_markings + 1, memory_order_relaxed);
    granary_gc_slice_soon(bytes);
    granary_gc_run_finalizers_soon();
}

void *granary_gc_allocate(size_t bytes, uint32_t kind, uint32_t flags)
{
    granary_gc_enter();
    struct gc_local *local = &granary_gc_local;
    if (UNLIKELY(local->cache == 0)) {
        struct blocked_call call = {bytes, kind, flags};
        return GC_call_with_gc_active(allocate_active, &call);
    }
    unsigned attempts = 0;
    for (;;) {
        uint32_t need = GC_NEED_NOTHING;
        uint32_t before = granary_gc_markings;
        granary_gc_into_core();
        uintptr_t object = core_gc_alloc_slow(local->cache, bytes, kind, flags, &need);
        granary_gc_out_of_core();
        if (LIKELY(object != 0)) {
            after_slow_path(local, bytes);
            if (UNLIKELY(GC_find_leak != 0))
                granary_gc_leaks_add((void *)object);
            clear_dead_stack(local);
            return (void *)object;
        }
        if (!make_room(need, before, &flags, &attempts))
            return out_of_memory(bytes);
    }
}

/* The two ways out of allocate that are seldom taken are functions of their own: it then needs no frame. */
static COLD void *find_none(size_t bytes, uint32_t kind)
{
    granary_gc_out_of_core();
    return granary_gc_allocate(bytes, kind, 0);
}

static COLD void *stop_with(uintptr_t object)
{
    granary_gc_stop_here();
    return (void *)object;
}

static inline __attribute__((always_inline)) void *allocate(size_t bytes, uint32_t kind)
{
    uintptr_t cache = granary_gc_local.fast;
    if (UNLIKELY(cache == 0))
        return granary_gc_allocate(bytes, kind, 0);
    granary_gc_mark_inside(); /* a thread with such a cache is active */
    uintptr_t object = core_gc_alloc(cache, bytes, kind);
    if (UNLIKELY(object == 0))
        return find_none(bytes, kind);
    return UNLIKELY(granary_gc_mark_outside()) ? stop_with(object) : (void *)object;
}

/* ---- allocation ---- */

void *GC_malloc(size_t bytes) { return allocate(bytes, GC_KIND_NORMAL); }
void *GC_malloc_atomic(size_t bytes) { return allocate(bytes, GC_KIND_POINTER_FREE); }

void *GC_malloc_uncollectable(size_t bytes) { return granary_gc_allocate(bytes, GC_KIND_UNCOLLECTABLE, 0); }

void *GC_malloc_atomic_uncollectable(size_t bytes)
{
    return granary_gc_allocate(bytes, GC_KIND_POINTER_FREE_UNCOLLECTABLE, 0);
}

void *GC_malloc_ignore_off_page(size_t bytes)
{
    return granary_gc_allocate(bytes, GC_KIND_NORMAL, GC_ALLOC_IGNORE_OFF_PAGE);
}

void *GC_malloc_atomic_ignore_off_page(size_t bytes)
{
    return granary_gc_allocate(bytes, GC_KIND_POINTER_FREE, GC_ALLOC_IGNORE_OFF_PAGE);
}

void *GC_malloc_stubborn(size_t bytes) { return GC_malloc(bytes); }

void *GC_generic_malloc(size_t bytes, int kind) { return allocate(bytes, (uint32_t)kind); }
void *GC_malloc_kind(size_t bytes, int kind) { return allocate(bytes, (uint32_t)kind); }
void *GC_malloc_kind_global(size_t bytes, int kind) { return allocate(bytes, (uint32_t)kind); }
void *GC_generic_or_special_malloc(size_t bytes, int kind) { return allocate(bytes, (uint32_t)kind); }

void *GC_generic_malloc_ignore_off_page(size_t bytes, int kind)
{
    return granary_gc_allocate(bytes, (uint32_t)kind, GC_ALLOC_IGNORE_OFF_PAGE);
}

/* Kinds of the program's own cannot be roots: their objects are kept by their addresses. */
void *GC_generic_malloc_uncollectable(size_t bytes, int kind)
{
    if (kind == GC_KIND_NORMAL)
        kind = GC_KIND_UNCOLLECTABLE;
    else if (kind == GC_KIND_POINTER_FREE)
        kind = GC_KIND_POINTER_FREE_UNCOLLECTABLE;
    else if (kind != GC_KIND_UNCOLLECTABLE && kind != GC_KIND_POINTER_FREE_UNCOLLECTABLE)
        granary_gc_abort("GC_generic_malloc_uncollectable: a kind made by GC_new_kind has no uncollectable objects");
    return granary_gc_allocate(bytes, (uint32_t)kind, 0);
}

/* bytes is a size of objects, as gc_inline.h has it: the extra byte is in it. */
void GC_generic_malloc_many(size_t bytes, int kind, void **result)
{
    granary_gc_enter();
    *result = NULL;
    size_t granules = (bytes + GC_GRANULE_BYTES - 1) / GC_GRANULE_BYTES;
    if (bytes > GC_SMALL_MOST_BYTES || granary_gc_local.cache == 0 || GC_find_leak != 0) {
        void *one = granary_gc_allocate(bytes - granary_gc_extra(), (uint32_t)kind, 0);
        if (one != NULL)
            *(void **)one = NULL;
        *result = one;
        return;
    }
    uint32_t flags = 0;
    for (unsigned attempts = 0;;) {
        uint32_t need = GC_NEED_NOTHING;
        uint32_t before = granary_gc_markings;
        granary_gc_into_core();
        uintptr_t first = core_gc_alloc_many(granary_gc_local.cache, granules == 0 ? 1 : granules, (uint32_t)kind,
                                             flags, &need);
        granary_gc_out_of_core();
        if (first != 0) {
            *result = (void *)first;
            after_slow_path(&granary_gc_local, GC_BLOCK_BYTES);
            return;
        }
        if (!make_room(need, before, &flags, &attempts))
            return;
    }
}

void *GC_malloc_many(size_t bytes)
{
    void *result;
    size_t extra = granary_gc_extra() + GC_GRANULE_BYTES - 1;
    size_t rounded = bytes > SIZE_MAX - extra ? SIZE_MAX : (bytes + extra) & ~(size_t)(GC_GRANULE_BYTES - 1);
    GC_generic_malloc_many(rounded, GC_KIND_NORMAL, &result);
    return result;
}

/* ---- aligned ---- */

/* Objects of one size lie side by side from the start of a block on, so those of a size that is a multiple of the
 * alignment are aligned; those with blocks of their own are to a block. Alignments beyond that are an address inside
 * of a larger object. */
void *GC_memalign(size_t alignment, size_t bytes)
{
    granary_gc_enter();
    if (alignment <= GC_GRANULE_BYTES)
        return GC_malloc(bytes);
    if ((alignment & (alignment - 1)) != 0 || bytes > SIZE_MAX / 2 || alignment > SIZE_MAX / 4)
        return NULL;
    size_t extra = granary_gc_extra();
    if (alignment > GC_BLOCK_BYTES) {
        char *object = GC_malloc(bytes + alignment);
        size_t past = (size_t)((uintptr_t)object & (alignment - 1));
        if (object == NULL || past == 0)
            return object;
        if (alignment - past < GC_BLOCK_BYTES)
            GC_register_displacement(alignment - past);
        return object + (alignment - past);
    }
    size_t wanted = alignment;
    while (wanted < bytes + extra)
        wanted *= 2; /* powers of two up to half a block are sizes of objects */
    if (wanted > GC_SMALL_MOST_BYTES)
        wanted = bytes + extra > GC_SMALL_MOST_BYTES ? bytes + extra : GC_SMALL_MOST_BYTES + 1;
    return GC_malloc(wanted - extra);
}

int GC_posix_memalign(void **result, size_t alignment, size_t bytes)
{
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    void *object = GC_memalign(alignment, bytes);
    if (object == NULL)
        return ENOMEM;
    *result = object;
    return 0;
}

/* ---- strings ---- */

char *GC_strndup(const char *text, size_t most)
{
    size_t length = strnlen(text, most);
    char *copy = GC_malloc_atomic(length + 1);
    if (copy == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *GC_strdup(const char *text) { return text == NULL ? NULL : GC_strndup(text, SIZE_MAX - 1); }

/* ---- explicit ---- */

void GC_free(void *object)
{
    if (object == NULL)
        return;
    granary_gc_enter();
    if (UNLIKELY(GC_find_leak != 0))
        granary_gc_leaks_remove(object);
    granary_gc_into_core();
    bool done = core_gc_free(granary_gc_local.cache, (uintptr_t)object);
    granary_gc_out_of_core();
    if (UNLIKELY(!done))
        granary_gc_warn("GC_free: 0x%lx is not the start of an object in use; ignored\n", (GC_word)object);
}

void *GC_realloc(void *object, size_t bytes)
{
    if (object == NULL)
        return GC_malloc(bytes);
    if (bytes == 0) {
        GC_free(object);
        return NULL;
    }
    granary_gc_enter();
    granary_gc_into_core();
    bool done = core_gc_resize((uintptr_t)object, bytes);
    size_t old_bytes = done ? 0 : core_gc_size_of((uintptr_t)object);
    uint32_t kind = done ? 0 : core_gc_kind_of((uintptr_t)object);
    bool is_start = done || core_gc_base_of((uintptr_t)object) == (uintptr_t)object;
    granary_gc_out_of_core();
    if (done)
        return object;
    if (!is_start) {
        granary_gc_warn("GC_realloc: 0x%lx is not the start of an object\n", (GC_word)object);
        return NULL;
    }
    void *moved = granary_gc_allocate(bytes, kind, 0);
    if (moved == NULL)
        return NULL;
    memcpy(moved, object, old_bytes < bytes ? old_bytes : bytes);
    GC_free(object);
    return moved;
}
