// A stack: marks, growth to twice its size, overflow into the allocator and the heap, frames, and its report.
// only: granary
// link: {granary}
// expect-out: ^granary: linear JOB_4_FRAMES \(JobTemp\): 1 of at most 1 blocks in use
// expect-out: ^Memory Statistics:$
// expect-out: ^\[ALLOC_TEMP_TLS\] TLS Allocator$
// expect-out: ^    \[ALLOC_TEMP_MAIN\]$
// expect-out: ^      Peak usage frame count: \[0-1.0 KB\]: 2 frames, \[4.0 KB-8.0 KB\]: 1 frames$
// expect-out: ^      Initial Block Size 4.0 KB$
// expect-out: ^      Current Block Size 8.0 KB$
// expect-out: ^      Peak Allocated Bytes 7.8 KB$
// expect-out: ^      Overflow Count 6$
// expect-out: ^\[ALLOC_TEMP_JOB_4_FRAMES \(JobTemp\)\]$
// expect-out: ^  Initial Block Size 64.0 KB$
// expect-out: ^  Used Block Count 1$
// expect-out: ^  Overflow Count \(too large\) 1$
#include "../test.h"
#include <granary.h>

int main(void)
{
    granary_linear_config config = {.name = "JOB_4_FRAMES (JobTemp)", .block_bytes = 64 * KIB, .blocks = 1};
    granary_linear *linear = granary_linear_create(&config, sizeof config);
    granary_stack *stack = granary_stack_create(linear, "MAIN", 100);
    CHECKED(stack != NULL);
    granary_stack_mark outer = granary_stack_get_mark(stack);
    char *first = granary_stack_alloc(stack, 8000, 16);
    CHECKED(first != NULL);
    granary_stack_mark inner = granary_stack_get_mark(stack);
    for (size_t align = 1; align <= 65536; align *= 16) {
        char *p = granary_stack_alloc(stack, 5000, align);
        CHECKED(p != NULL && (uintptr_t)p % align == 0);
        memset(p, 1, 5000);
    }
    CHECKED(granary_stack_alloc(stack, 600 * KIB, 0) != NULL);
    errno = 0;
    CHECKED(granary_stack_alloc(stack, 1, 3) == NULL && errno == EINVAL);
    granary_stack_stats s;
    granary_linear_stats l;
    CHECKED(granary_stack_get_stats(stack, &s, sizeof s) == 0 && s.overflows == 6 && s.used_bytes == 8000);
    CHECKED(granary_linear_get_stats(linear, &l, sizeof l) == 0 && l.live + l.overflows_live == 6);
    CHECKED(granary_stack_rewind(stack, inner) == 0);
    CHECKED(granary_linear_get_stats(linear, &l, sizeof l) == 0 && l.live + l.overflows_live == 0);
    CHECKED(granary_stack_rewind(stack, outer) == 0);
    errno = 0;
    CHECKED(granary_stack_rewind(stack, inner) == -1 && errno == EINVAL);
    CHECKED(granary_stack_alloc(stack, 16, 16) == first);
    CHECKED(granary_stack_rewind(stack, outer) == 0);
    for (int i = 0; i < 3; i++)
        granary_linear_next_frame(linear);
    errno = 0;
    CHECKED(granary_linear_destroy(linear) == -1 && errno == EBUSY);
    errno = 0;
    CHECKED(granary_stack_create(linear, "x", 2 * GIB) == NULL && errno == EINVAL);
    granary_linear_reset(linear);
    CHECKED(granary_linear_report(linear, &stack, 1, 1) == 0);
    errno = 0;
    CHECKED(granary_linear_report(linear, &stack, 1, 999) == -1 && errno == EBADF);
    CHECKED(granary_stack_alloc(stack, 9000, 16) != NULL); /* for destroy to free */
    granary_stack_destroy(stack);
    granary_stack_destroy(NULL);
    CHECKED(granary_linear_get_stats(linear, &l, sizeof l) == 0 && l.live + l.overflows_live == 0);
    CHECKED(granary_linear_destroy(linear) == 0);
    return 0;
}
