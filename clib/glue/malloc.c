/* The malloc family: what the C standard, POSIX and glibc 2.36 promise, over the core. */
#include "core.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#define SAME_AS(name) __attribute__((alias(#name), copy(name), visibility("default")))

EXPORT FLATTEN void *malloc(size_t size) { return core_malloc(size); }

EXPORT FLATTEN void free(void *block) { core_free(block); }

EXPORT FLATTEN void *calloc(size_t count, size_t size) { return core_calloc(count, size); }

/* Tools that put their own malloc in place of ours (valgrind) know the old functions but not the newest. Those go
 * through the symbol table to the old ones, so that a tool replaces either all or none. */
#define BY_SYMBOL __attribute__((noipa))

/* realloc(block, 0) frees, as glibc does. */
EXPORT BY_SYMBOL void *realloc(void *block, size_t size)
{
    if (block == NULL)
        return core_malloc(size);
    if (UNLIKELY(size == 0)) {
        core_free(block);
        return NULL;
    }
    return core_realloc(block, size);
}

EXPORT void *reallocarray(void *block, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(block, total);
}

/* glibc's memalign takes any alignment and rounds it up to a power of two; one that has none above it is EINVAL. */
EXPORT void *memalign(size_t alignment, size_t size)
{
    if (alignment > SIZE_MAX / 2 + 1) {
        errno = EINVAL;
        return NULL;
    }
    if ((alignment & (alignment - 1)) != 0)
        alignment = (size_t)1 << (64 - __builtin_clzl(alignment));
    return core_aligned_alloc(alignment, size);
}

/* glibc 2.36's aligned_alloc is its memalign. */
EXPORT void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

EXPORT int posix_memalign(void **result, size_t alignment, size_t size)
{
    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    int saved = errno;
    void *block = core_aligned_alloc(alignment, size);
    errno = saved;
    if (block == NULL)
        return ENOMEM;
    *result = block;
    return 0;
}

size_t granary_sys_page_bytes(void);

EXPORT void *valloc(size_t size) { return core_aligned_alloc(granary_sys_page_bytes(), size); }

EXPORT void *pvalloc(size_t size)
{
    size_t page = granary_sys_page_bytes();
    if (size > SIZE_MAX - page) {
        errno = ENOMEM;
        return NULL;
    }
    size_t rounded = (size + page - 1) & ~(page - 1);
    return core_aligned_alloc(page, rounded == 0 ? page : rounded);
}

EXPORT size_t malloc_usable_size(void *block) { return core_usable_size(block); }

void cfree(void *block);
EXPORT BY_SYMBOL void cfree(void *block) { core_free(block); }

/* C23. The size is what the caller asked for; the heap does not need it, the guard checks it. */
EXPORT void free_sized(void *block, size_t size)
{
    if (UNLIKELY(granary_options.guard))
        granary_guard_check_size(block, size);
    cfree(block);
}

EXPORT void free_aligned_sized(void *block, size_t alignment, size_t size)
{
    (void)alignment;
    free_sized(block, size);
}

EXPORT void *granary_malloc(size_t size) SAME_AS(malloc);
EXPORT void *granary_calloc(size_t count, size_t size) SAME_AS(calloc);
EXPORT void *granary_realloc(void *block, size_t size) SAME_AS(realloc);
EXPORT void granary_free(void *block) SAME_AS(free);
EXPORT void *granary_aligned_alloc(size_t alignment, size_t size) SAME_AS(aligned_alloc);

EXPORT size_t granary_usable_size(const void *block) { return core_usable_size(block); }
EXPORT size_t granary_good_size(size_t size) { return core_good_size(size); }
EXPORT int granary_owns(const void *address) { return core_owns(address); }

EXPORT void *granary_zalloc(void *opaque, unsigned items, unsigned size)
{
    (void)opaque;
    return core_calloc(items, size);
}

EXPORT void granary_zfree(void *opaque, void *block)
{
    (void)opaque;
    core_free(block);
}

EXPORT void *granary_png_malloc(void *png, size_t size)
{
    (void)png;
    return core_malloc(size);
}

EXPORT void granary_png_free(void *png, void *block)
{
    (void)png;
    core_free(block);
}
