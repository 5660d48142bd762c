// Linear allocators at their bounds: sizes, alignments, the 65th block, eight times a block, what is reserved.
// only: granary
// link: {granary}
// also: GRANARY_ALLOC_SYSTEM=1
#include "../test.h"
#include <granary.h>
#include <stdbool.h>

static granary_linear_stats stats_of(granary_linear *linear)
{
    granary_linear_stats stats;
    CHECKED(granary_linear_get_stats(linear, &stats, sizeof stats) == 0);
    return stats;
}

static bool in_system_mode(void) { return getenv("GRANARY_ALLOC_SYSTEM") != NULL; }

static granary_linear *create(size_t block, uint32_t blocks)
{
    granary_linear_config config = {.name = "test", .block_bytes = block, .blocks = blocks};
    granary_linear *linear = granary_linear_create(&config, sizeof config);
    CHECK(linear != NULL, "no allocator");
    return linear;
}

static void sizes_and_alignments(void)
{
    granary_linear *l = create(1 * MIB, 0);
    for (size_t align = 0; align <= GRANARY_LINEAR_ALIGN_MOST; align = align == 0 ? 1 : align * 2)
        for (size_t size = 0; size < 20000; size = size * 3 + 1) {
            char *p = granary_linear_alloc(l, size, align);
            CHECK(p != NULL && (uintptr_t)p % (align < 16 ? 16 : align) == 0, "%zu at %zu is %p", size, align, p);
            memset(p, 0xaa, size);
            char *q = granary_linear_alloc_zeroed(l, size, align);
            CHECK(q != NULL && q != p, "no second allocation of %zu", size);
            for (size_t i = 0; i < size; i++)
                CHECK(q[i] == 0, "byte %zu of %zu is not zero", i, size);
            CHECKED(granary_linear_free(l, p) == 0 && granary_linear_free(l, q) == 0);
        }
    CHECKED(stats_of(l).live == 0 && stats_of(l).overflows_live == 0);
    size_t bad[] = {3, 15, 17, 48, GRANARY_LINEAR_ALIGN_MOST * 2, SIZE_MAX, (size_t)1 << 63};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        errno = 0;
        CHECK(granary_linear_alloc(l, 16, bad[i]) == NULL && errno == EINVAL, "alignment %zu is taken", bad[i]);
        errno = 0;
        CHECKED(granary_linear_alloc_zeroed(l, 16, bad[i]) == NULL && errno == EINVAL);
    }
    size_t huge[] = {SIZE_MAX, SIZE_MAX - 15, SIZE_MAX - 16, SIZE_MAX / 2, SIZE_MAX / 2 + 1};
    for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
        errno = 0;
        CHECK(granary_linear_alloc(l, huge[i], 16) == NULL && errno == ENOMEM, "%zu bytes are there", huge[i]);
    }
    CHECKED(granary_linear_free(l, NULL) == 0);
    CHECKED(granary_linear_destroy(l) == 0 && granary_linear_destroy(NULL) == 0);
}

static void the_65th_block(void)
{
    granary_linear *l = create(64 * KIB, 0);
    void *p[66];
    for (int i = 0; i < 64; i++) {
        p[i] = granary_linear_alloc(l, 8 * 64 * KIB, 16);
        CHECKED(p[i] != NULL);
    }
    granary_linear_stats s = stats_of(l);
    CHECKED(s.reserved_most_bytes == 64 * 8 * 64 * KIB && s.blocks_most == 64);
    if (!in_system_mode()) {
        CHECKED(s.full == 0 && s.too_large == 0 && s.blocks_used == 64 && s.blocks_peak == 64);
        CHECKED(s.reserved_bytes == s.reserved_most_bytes);
    }
    p[64] = granary_linear_alloc(l, 16, 16);
    p[65] = granary_linear_alloc(l, 8 * 64 * KIB + 1, 16);
    s = stats_of(l);
    CHECKED(p[64] != NULL && p[65] != NULL && s.too_large == 1);
    CHECKED(s.full == (in_system_mode() ? 65 : 1) && s.overflows_live == s.full + 1);
    memset(p[65], 1, 8 * 64 * KIB + 1);
    for (int i = 0; i < 66; i++)
        CHECKED(granary_linear_free(l, p[i]) == 0);
    s = stats_of(l);
    CHECKED(s.live == 0 && s.overflows_live == 0 && s.misuses == 0);
    for (int i = 0; i < 65; i++)
        CHECKED(granary_linear_alloc(l, 600 * KIB, 16) != NULL); /* for destroy to free */
    CHECKED(granary_linear_destroy(l) == 0);
}

static void bad_configurations(void)
{
    granary_linear_config bad[] = {{.blocks = 65}, {.growth = 9}, {.max_age = 1 << 21}, {.block_bytes = 2 * GIB}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        errno = 0;
        CHECKED(granary_linear_create(&bad[i], sizeof bad[i]) == NULL && errno == EINVAL);
    }
    errno = 0;
    CHECKED(granary_linear_create(bad, sizeof bad) == NULL && errno == EINVAL);
    granary_linear *all[257], *plain = granary_linear_create(NULL, 0);
    CHECKED(plain != NULL && stats_of(plain).block_bytes == 2 * MIB);
    int count = 0;
    while (count < 257 && (all[count] = create(64 * KIB, 1)) != NULL && ++count < 255)
        CHECKED(granary_linear_alloc(all[count - 1], 16, 16) != NULL);
    errno = 0;
    CHECKED(granary_linear_create(NULL, 0) == NULL && errno == ENOMEM);
    CHECKED(granary_linear_get_stats(plain, NULL, 100) == -1 && errno == EINVAL);
    while (count > 0)
        CHECKED(granary_linear_destroy(all[--count]) == 0);
    /* A tag that is used again must not lead to the worker of the allocator before. */
    granary_linear *again = create(64 * KIB, 1);
    CHECKED(granary_linear_alloc(again, 16, 16) != NULL && granary_linear_destroy(again) == 0);
    CHECKED(granary_linear_destroy(plain) == 0);
}

int main(void)
{
    sizes_and_alignments();
    the_65th_block();
    bad_configurations();
    return 0;
}
