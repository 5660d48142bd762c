/* Typed objects: a descriptor says which words are addresses. It lies in the last word of the object. */
#include "collector.h"

#include <string.h>

enum { LENGTH = 0, BITMAP = 1, TAGS = 3, BITMAP_MOST = 62, PER_OBJECT = 3, WORD_BITS = 64 };

static int typed_kind = -1;

static uint32_t kind(void)
{
    if (typed_kind < 0) {
        bool took = granary_gc_lock();
        if (typed_kind < 0) /* the object's size is added: its last word */
            typed_kind = (int)GC_new_kind(NULL, (GC_word)-(GC_signed_word)sizeof(GC_word) | PER_OBJECT, 1, 1);
        granary_gc_unlock(took);
    }
    return (uint32_t)typed_kind;
}

GC_descr GC_make_descriptor(const GC_word *bitmap, size_t bits)
{
    granary_gc_enter();
    granary_gc_into_core();
    GC_descr descriptor = core_gc_make_descriptor((uintptr_t)bitmap, bits);
    granary_gc_out_of_core();
    return descriptor;
}

static void *malloc_typed(size_t bytes, GC_descr descriptor, uint32_t flags)
{
    granary_gc_enter();
    if (bytes > SIZE_MAX / 2)
        return GC_oom_fn(bytes);
    uint32_t typed = kind();
    size_t extra = granary_gc_extra(); /* the descriptor's word takes the place of the extra byte */
    void *object = granary_gc_allocate(bytes + sizeof descriptor - extra, typed, flags);
    if (object != NULL)
        *(GC_descr *)((char *)object + GC_size(object) - sizeof descriptor) = descriptor;
    return object;
}

void *GC_malloc_explicitly_typed(size_t bytes, GC_descr descriptor) { return malloc_typed(bytes, descriptor, 0); }

void *GC_malloc_explicitly_typed_ignore_off_page(size_t bytes, GC_descr descriptor)
{
    return malloc_typed(bytes, descriptor, GC_ALLOC_IGNORE_OFF_PAGE);
}

/* The bitmap of a descriptor of at most 64 words, if it has one. */
static bool bitmap_of(GC_descr descriptor, size_t element_words, GC_word *bitmap)
{
    *bitmap = 0;
    if ((descriptor & TAGS) == LENGTH) {
        size_t words = descriptor / sizeof(GC_word);
        if (words > element_words)
            words = element_words;
        if (words > WORD_BITS)
            return false;
        *bitmap = words == WORD_BITS ? ~(GC_word)0 : ((GC_word)1 << words) - 1;
        return true;
    }
    if ((descriptor & TAGS) != BITMAP)
        return false;
    for (size_t i = 0; i < BITMAP_MOST; i++)
        *bitmap |= (descriptor >> (WORD_BITS - 1 - i) & 1) << i;
    return true;
}

/* An element whose layout cannot be repeated makes an array all of whose words may be addresses. */
void *GC_calloc_explicitly_typed(size_t count, size_t bytes, GC_descr descriptor)
{
    granary_gc_enter();
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all) || all > SIZE_MAX / 2)
        return GC_oom_fn(SIZE_MAX);
    if (count == 1)
        return malloc_typed(bytes, descriptor, 0);
    GC_word bitmap;
    uintptr_t repeated = 0;
    size_t words = bytes / sizeof(GC_word);
    if (bytes % sizeof(GC_word) != 0 || words == 0 || words > WORD_BITS || !bitmap_of(descriptor, words, &bitmap))
        return GC_malloc(all);
    granary_gc_into_core();
    bool typed = core_gc_make_array_descriptor((uintptr_t)&bitmap, words, &repeated);
    granary_gc_out_of_core();
    return typed ? malloc_typed(all, repeated, 0) : GC_malloc(all);
}
