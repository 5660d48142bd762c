// The inline forms serve what the calls serve, count alike, and leave to the calls what they cannot do: other frames,
// other threads, full blocks, the last allocation of a segment, sizes that overflow.
// also: GRANARY_DEBUG_ALLOC=1
// also: GRANARY_ALLOC_SYSTEM=1
// link: {granary}
#include <granary.h>

#include "../test.h"

enum { COUNT = 5000 };

static granary_linear *linear;

static void *elsewhere(void *block)
{
    granary_linear_worker *worker = granary_linear_get_worker(linear);
    CHECKED(granary_linear_free_inline(linear, worker, block) == 0);
    void *mine = granary_linear_alloc_inline(linear, worker, 100);
    CHECKED(mine != NULL && granary_linear_free_inline(linear, worker, mine) == 0);
    return NULL;
}

static granary_linear_stats stats(void)
{
    granary_linear_stats s;
    CHECKED(granary_linear_get_stats(linear, &s, sizeof s) == 0);
    return s;
}

static void frames(granary_linear_worker *worker)
{
    static unsigned char *blocks[COUNT];
    for (int frame = 0; frame < 5; frame++) {
        for (size_t i = 0; i < COUNT; i++) {
            size_t size = i * 37 % 700;
            blocks[i] = i % 3 == 0 ? granary_linear_alloc(linear, size, 0)
                                   : granary_linear_alloc_inline(linear, worker, size);
            CHECKED(blocks[i] != NULL && (uintptr_t)blocks[i] % 16 == 0);
            memset(blocks[i], (int)i, size);
        }
        granary_linear_next_frame(linear);
        for (size_t i = 0; i < COUNT; i++) {
            size_t size = i * 37 % 700;
            for (size_t at = 0; at < size; at += 61)
                CHECKED(blocks[i][at] == (unsigned char)i);
            CHECKED((i % 2 == 0 ? granary_linear_free(linear, blocks[i])
                                : granary_linear_free_inline(linear, worker, blocks[i])) == 0);
        }
        CHECKED(stats().live + stats().overflows_live == 0);
    }
}

int main(void)
{
    granary_linear_config config = {.name = "inlined", .block_bytes = 1 << 16};
    linear = granary_linear_create(&config, sizeof config);
    CHECKED(linear != NULL);
    granary_linear_worker *worker = granary_linear_get_worker(linear);
    CHECKED(worker != NULL && worker == granary_linear_get_worker(linear));
    frames(worker);

    void *first = granary_linear_alloc_inline(linear, worker, 64);
    void *second = granary_linear_alloc_inline(linear, worker, 64);
    CHECKED(first != second && stats().live + stats().overflows_live == 2);
    CHECKED(granary_linear_alloc_inline(linear, worker, SIZE_MAX) == NULL);
    CHECKED(granary_linear_alloc_inline(linear, worker, SIZE_MAX - 14) == NULL);
    CHECKED(granary_linear_free_inline(linear, worker, NULL) == 0);
    CHECKED(granary_linear_free_inline(linear, worker, second) == 0);
    pthread_t thread;
    start_thread(&thread, elsewhere, first);
    join_thread(thread);
    CHECKED(stats().live + stats().overflows_live == 0);

    granary_stack *stack = granary_stack_create(linear, "inlined", 4096);
    CHECKED(stack != NULL);
    granary_stack_mark mark = granary_stack_get_mark(stack);
    for (size_t i = 0; i < 1000; i++) { /* more than it holds: the rest overflows */
        unsigned char *pushed = granary_stack_alloc_inline(stack, 40);
        CHECKED(pushed != NULL && (uintptr_t)pushed % 16 == 0);
        memset(pushed, 1, 40);
    }
    CHECKED(granary_stack_alloc_inline(stack, SIZE_MAX) == NULL);
    CHECKED(granary_stack_rewind(stack, mark) == 0);
    CHECKED(stats().live + stats().overflows_live == 0);
    granary_stack_destroy(stack);
    CHECKED(granary_linear_destroy(linear) == 0);
    return 0;
}
