/* Stacks over a linear allocator: what does not fit into the stack comes from the allocator, or from the heap if that
 * is full, and goes with the same rewind. */
#include "linear.h"

#include <errno.h>
#include <string.h>

struct granary_stack {
    uintptr_t core;
    granary_linear *linear;
    char name[LINEAR_NAME_BYTES];
};

enum { LINK_BYTES = 16 }; /* linear.LinkBytes */

EXPORT granary_stack *granary_stack_create(granary_linear *linear, const char *name, size_t bytes)
{
    if (linear == NULL || bytes > GRANARY_STACK_MOST) {
        errno = EINVAL;
        return NULL;
    }
    granary_stack *stack = core_calloc(1, sizeof *stack);
    uintptr_t core = stack == NULL ? 0 : core_stack_new((uintptr_t)linear, bytes);
    if (core == 0) {
        core_free(stack);
        errno = ENOMEM;
        return NULL;
    }
    stack->core = core;
    stack->linear = linear;
    strncpy(stack->name, name != NULL ? name : "", sizeof stack->name - 1);
    granary_linear_lock();
    granary_linear_of((uintptr_t)linear)->stacks++;
    granary_linear_unlock();
    return stack;
}

static void free_above(granary_stack *stack, const granary_stack_mark *mark)
{
    uintptr_t block;
    while ((block = core_stack_pop_above(stack->core, mark)) != 0)
        granary_linear_free(stack->linear, (void *)block);
}

EXPORT void granary_stack_destroy(granary_stack *stack)
{
    if (stack == NULL)
        return;
    free_above(stack, &(granary_stack_mark){0, 0});
    core_stack_destroy(stack->core);
    granary_linear_lock();
    granary_linear_of((uintptr_t)stack->linear)->stacks--;
    granary_linear_unlock();
    core_free(stack);
}

__attribute__((noinline)) static void *overflow(granary_stack *stack, size_t size, size_t align)
{
    if ((align & (align - 1)) != 0 || align > GRANARY_LINEAR_ALIGN_MOST) {
        errno = EINVAL;
        return NULL;
    }
    /* What the stack needs of a block lies in front of what the caller gets, which stays aligned. */
    size_t front = align > LINK_BYTES ? align : LINK_BYTES, total;
    char *block = NULL;
    if (__builtin_add_overflow(size, front, &total))
        errno = ENOMEM;
    else
        block = granary_linear_alloc(stack->linear, total, align);
    if (block == NULL) {
        core_stack_count_overflow(stack->core);
        return NULL;
    }
    core_stack_link(stack->core, (uintptr_t)block);
    return block + front;
}

EXPORT FLATTEN void *granary_stack_alloc(granary_stack *stack, size_t size, size_t align)
{
    if (LIKELY((align & (align - 1)) == 0)) {
        uintptr_t block = core_stack_alloc(stack->core, size, align);
        if (LIKELY(block != 0))
            return (void *)block;
    }
    return overflow(stack, size, align);
}

EXPORT granary_stack_mark granary_stack_get_mark(granary_stack *stack)
{
    granary_stack_mark mark;
    core_stack_mark(stack->core, &mark);
    return mark;
}

EXPORT int granary_stack_rewind(granary_stack *stack, granary_stack_mark mark)
{
    if (!core_stack_valid(stack->core, &mark)) {
        errno = EINVAL;
        return -1;
    }
    free_above(stack, &mark);
    core_stack_rewind(stack->core, &mark);
    return 0;
}

EXPORT int granary_stack_get_stats(granary_stack *stack, granary_stack_stats *stats, size_t bytes)
{
    granary_stack_stats all = {0};
    if (stats == NULL || bytes < sizeof(uint64_t)) {
        errno = EINVAL;
        return -1;
    }
    core_stack_read(stack->core, &all);
    memcpy(stats, &all, bytes < sizeof all ? bytes : sizeof all);
    return 0;
}

const char *granary_stack_name(const granary_stack *stack) { return stack->name; }
