// Diagnosing, a second free and a foreign pointer are refused and told, and what is too old is printed once for each
// place that made it, with the stack.
// only: granary
// link: {granary}
// cflags: -rdynamic
// also: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: linear jobs: free\({ptr}\): the address was already freed$
// expect: ^granary: linear jobs: free\({ptr}\): the address is no allocation of this allocator$
// expect: ^granary: linear jobs: 3 allocations are older than 4 frames \(frame 5\), made at$
// expect: make_old
// expect: ^granary: linear jobs: 1 allocations are older than 4 frames \(frame 6\), made at$
// expect: make_other
// refuse: older than 4 frames \(frame [78]\)
#include "../test.h"
#include <granary.h>

static granary_linear *linear;

__attribute__((noinline)) void *make_old(void) { return opaque_pointer(granary_linear_alloc(linear, 100, 16)); }

__attribute__((noinline)) void *make_other(void) { return opaque_pointer(granary_linear_alloc(linear, 200, 16)); }

int main(void)
{
    granary_linear_config config = {.name = "jobs", .max_age = 4, .diagnose = 1};
    linear = granary_linear_create(&config, sizeof config);
    CHECKED(linear != NULL);
    char *p = granary_linear_alloc(linear, 64, 16);
    void *volatile old = NULL;
    int local;
    CHECKED(granary_linear_free(linear, p) == 0);
    errno = 0;
    CHECKED(granary_linear_free(linear, p) == -1 && errno == EINVAL);
    errno = 0;
    CHECKED(granary_linear_free(linear, &local) == -1 && errno == EINVAL);
    for (size_t i = 0; i < opaque_size(3); i++)
        old = make_old();
    granary_linear_next_frame(linear);
    make_other();
    for (int frame = 2; frame <= 8; frame++)
        CHECKED(granary_linear_next_frame(linear) == (uint32_t)frame);
    CHECKED(granary_linear_free(linear, old) == 0);
    granary_linear_stats stats;
    CHECKED(granary_linear_get_stats(linear, &stats, sizeof stats) == 0);
    CHECKED(stats.overdue == 4 && stats.late == 1 && stats.misuses == 2 && stats.live == 3);
    CHECKED(granary_linear_destroy(linear) == 0);
    return 0;
}
