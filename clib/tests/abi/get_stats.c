// granary_get_stats counts exactly: blocks, bytes asked for, the normal tier, and what short
// structures get.
// only: granary
// link: {granary}
#include "test.h"
#include "granary.h"

int main(void)
{
    static granary_stats before, after;
    CHECKED(granary_get_stats(&before, sizeof before) == 0);
    CHECKED(before.version == GRANARY_STATS_VERSION && before.class_count == GRANARY_CLASS_COUNT);
    uint32_t last = 0;
    size_t class_64 = GRANARY_CLASS_COUNT;
    for (size_t i = 0; i < GRANARY_CLASS_COUNT; i++) {
        uint32_t bytes = before.classes[i].block_bytes;
        CHECK(bytes > last && bytes % 16 == 0, "class %zu has %u bytes", i, bytes);
        uint32_t span = bytes <= TINY_BYTES_MAX ? 65536 : 262144;
        CHECK(before.classes[i].span_bytes == span, "class %zu has spans of %u", i,
              before.classes[i].span_bytes);
        if (bytes == 64)
            class_64 = i;
        last = bytes;
    }
    CHECKED(last == SMALL_BYTES_MAX && class_64 < GRANARY_CLASS_COUNT);

    static void *blocks[1000];
    for (size_t i = 0; i < 1000; i++)
        blocks[i] = malloc(50);
    void *large = malloc(100000);
    CHECKED(granary_get_stats(&after, sizeof after) == 0);
    granary_class_stats *was = &before.classes[class_64], *is = &after.classes[class_64];
    CHECK(is->mallocs - was->mallocs == 1000, "%llu mallocs counted",
          (unsigned long long)(is->mallocs - was->mallocs));
    CHECK(is->asked_bytes - was->asked_bytes == 50000, "%llu bytes asked for",
          (unsigned long long)(is->asked_bytes - was->asked_bytes));
    CHECK(is->blocks - was->blocks == 1000, "%llu blocks more now",
          (unsigned long long)(is->blocks - was->blocks));
    CHECKED(is->blocks_peak >= is->blocks && is->spans >= 1 && is->spans_peak >= is->spans);
    CHECKED(is->spans * is->span_bytes >= is->blocks * is->block_bytes);
    CHECKED(after.normal_mallocs - before.normal_mallocs == 1);
    CHECKED(after.normal_bytes - before.normal_bytes == 100000);
    CHECKED(after.normal_live_bytes - before.normal_live_bytes >= 100000);
    CHECKED(after.resident_peak_bytes >= after.resident_bytes);
    CHECKED(after.range_bytes >= after.used_peak_bytes && after.thread_caches >= 1);
    for (size_t i = 0; i < 1000; i++)
        free(blocks[i]);
    free(large);
    CHECKED(granary_get_stats(&after, sizeof after) == 0);
    CHECKED(is->blocks == was->blocks && after.normal_frees - before.normal_frees == 1);

    // A caller built against an older, shorter structure.
    char part[64];
    memset(part, 0x77, sizeof part);
    CHECKED(granary_get_stats((granary_stats *)part,
            32) == 0 && part[32] == 0x77 && part[63] == 0x77);
    errno = 0;
    CHECKED(granary_get_stats(NULL, sizeof after) == -1 && errno == EINVAL);
    errno = 0;
    CHECKED(granary_get_stats(&after, 4) == -1 && errno == EINVAL);
    errno = 0;
    CHECKED(granary_report(1, "xml") == -1 && errno == EINVAL);
    CHECKED(granary_report(1, "text") == 0 && granary_report(1, "json") == 0);
    errno = 0;
    CHECKED(granary_report(-1, "text") == -1 && errno == EBADF);
    return 0;
}
