/* Stacks over a linear allocator: what does not fit into the stack comes from the allocator, or from the heap if that
 * is full, and goes with the same rewind. */
#include "linear.h"

#include <errno.h>
#include <string.h>

/* A granary_stack is the core's; this is what the glue keeps with it. */
struct user {
    granary_linear *linear;
    char name[LINEAR_NAME_BYTES];
};

enum { LINK_BYTES = 16 }; /* linear.LinkBytes */

static struct user *user_of(const granary_stack *stack) { return core_stack_user((uintptr_t)stack); }

EXPORT granary_stack *granary_stack_create(granary_linear *linear, const char *name, size_t bytes)
{
    if (linear == NULL || bytes > GRANARY_STACK_MOST) {
        errno = EINVAL;
        return NULL;
    }
    struct user *user = core_calloc(1, sizeof *user);
    uintptr_t core = user == NULL ? 0 : core_stack_new((uintptr_t)linear, bytes);
    if (core == 0) {
        core_free(user);
        errno = ENOMEM;
        return NULL;
    }
    user->linear = linear;
    strncpy(user->name, name != NULL ? name : "", sizeof user->name - 1);
    core_stack_set_user(core, user);
    granary_linear_lock();
    granary_linear_of((uintptr_t)linear)->stacks++;
    granary_linear_unlock();
    return (granary_stack *)core;
}

static void free_above(granary_stack *stack, const granary_stack_mark *mark)
{
    uintptr_t block;
    while ((block = core_stack_pop_above((uintptr_t)stack, mark)) != 0)
        granary_linear_free(user_of(stack)->linear, (void *)block);
}

EXPORT void granary_stack_destroy(granary_stack *stack)
{
    if (stack == NULL)
        return;
    struct user *user = user_of(stack);
    free_above(stack, &(granary_stack_mark){0, 0});
    core_stack_destroy((uintptr_t)stack);
    granary_linear_lock();
    granary_linear_of((uintptr_t)user->linear)->stacks--;
    granary_linear_unlock();
    core_free(user);
}

/* Called by the fast path when it does not go. */
__attribute__((noinline)) uintptr_t granary_glue_stack_alloc_slow(uintptr_t core, size_t size, size_t align)
{
    if (align < 16 && (align & (align - 1)) == 0)
        align = 16;
    if ((align & (align - 1)) != 0 || align > GRANARY_LINEAR_ALIGN_MOST) {
        errno = EINVAL;
        return 0;
    }
    if (size == 0)
        size = 1;
    uintptr_t block = core_stack_aligned(core, size, align);
    if (block != 0)
        return block;
    /* What the stack needs of a block lies in front of what the caller gets, which stays aligned. */
    size_t front = align > LINK_BYTES ? align : LINK_BYTES, total;
    struct user *user = user_of((granary_stack *)core);
    if (__builtin_add_overflow(size, front, &total))
        errno = ENOMEM;
    else
        block = (uintptr_t)granary_linear_alloc(user->linear, total, align);
    if (block == 0) {
        core_stack_count_overflow(core);
        return 0;
    }
    core_stack_link(core, block);
    return block + front;
}

EXPORT FLATTEN void *granary_stack_alloc(granary_stack *stack, size_t size, size_t align)
{
    return (void *)core_stack_alloc((uintptr_t)stack, size, align);
}

EXPORT granary_stack_mark granary_stack_get_mark(granary_stack *stack)
{
    granary_stack_mark mark;
    core_stack_mark((uintptr_t)stack, &mark);
    return mark;
}

EXPORT int granary_stack_rewind(granary_stack *stack, granary_stack_mark mark)
{
    if (!core_stack_valid((uintptr_t)stack, &mark)) {
        errno = EINVAL;
        return -1;
    }
    free_above(stack, &mark);
    core_stack_rewind((uintptr_t)stack, &mark);
    return 0;
}

EXPORT int granary_stack_get_stats(granary_stack *stack, granary_stack_stats *stats, size_t bytes)
{
    granary_stack_stats all = {0};
    if (stats == NULL || bytes < sizeof(uint64_t)) {
        errno = EINVAL;
        return -1;
    }
    core_stack_read((uintptr_t)stack, &all);
    memcpy(stats, &all, bytes < sizeof all ? bytes : sizeof all);
    return 0;
}

const char *granary_stack_name(const granary_stack *stack) { return user_of(stack)->name; }
