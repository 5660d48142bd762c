/* What the core's linear allocators call when they are built by gccgo, for their tests. The stores of words that others
 * read are as in clib/glue/linear.c; the doubles of the rest of the library are never called. */
#include <stdint.h>
#include <stdlib.h>

void granary_linear_set_word(void *word, uintptr_t value)
{
    __atomic_store_n((uintptr_t *)word, value, __ATOMIC_RELAXED);
}

void granary_linear_set_live(void *word, int64_t value)
{
    __atomic_store_n((int64_t *)word, value, __ATOMIC_RELAXED);
}

void granary_linear_add_live(void *word, int64_t more)
{
    granary_linear_set_live(word, __atomic_load_n((int64_t *)word, __ATOMIC_RELAXED) + more);
}

uintptr_t granary_glue_linear_worker(uint32_t tag)
{
    (void)tag;
    abort();
}

uintptr_t granary_glue_linear_alloc_slow(uintptr_t linear, uintptr_t size, uintptr_t align)
{
    (void)linear;
    (void)size;
    (void)align;
    abort();
}

int32_t granary_glue_linear_free_slow(uintptr_t linear, uintptr_t block)
{
    (void)linear;
    (void)block;
    abort();
}

uintptr_t granary_glue_stack_alloc_slow(uintptr_t stack, uintptr_t size, uintptr_t align)
{
    (void)stack;
    (void)size;
    (void)align;
    abort();
}
