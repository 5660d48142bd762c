// Without diagnosing what is too old is told once, and freeing anything twice leaves the pool sound.
// only: granary
// link: {granary}
// expect: ^granary: linear jobs: 3 allocations are older than 4 frames \(frame 5\); run with GRANARY_DEBUG_ALLOC=1
// refuse: frame 1[0-9]
#include "../test.h"
#include <granary.h>

int main(void)
{
    granary_linear_config config = {.name = "jobs", .max_age = 4, .block_bytes = 64 * KIB};
    granary_linear *linear = granary_linear_create(&config, sizeof config);
    CHECKED(linear != NULL);
    static void *all[5000];
    uint64_t random = 5;
    for (int i = 0; i < 3; i++)
        granary_linear_alloc(linear, 100, 16);
    for (int frame = 1; frame <= 10; frame++)
        granary_linear_next_frame(linear);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 5000; i++)
            all[i] = granary_linear_alloc(linear, random_next(&random) % 3000, 16);
        for (int i = 0; i < 10000; i++)
            granary_linear_free(linear, all[random_next(&random) % 5000]);
        granary_linear_reset(linear);
        granary_linear_stats stats;
        CHECKED(granary_linear_get_stats(linear, &stats, sizeof stats) == 0);
        CHECK(stats.live == 0 && stats.overflows_live == 0 && stats.blocks_used <= 1, "%lu blocks hold %lu",
              stats.blocks_used, stats.live);
    }
    CHECKED(granary_linear_destroy(linear) == 0);
    return 0;
}
