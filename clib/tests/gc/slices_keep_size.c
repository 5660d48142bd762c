// Collections in slices do not make the heap larger: they begin early enough that what is allocated meanwhile has
// free blocks.
// library: gc
// only: granary
#include "check.h"

enum { ALIVE_BYTES = 64 << 20, HEAP_MOST_BYTES = 256 << 20 };

static void work(size_t bytes)
{
    size_t count = ALIVE_BYTES / bytes;
    void **kept = GC_malloc(count * sizeof *kept);
    for (size_t i = 0; i < count; i++)
        kept[i] = GC_malloc(bytes);
    for (size_t made = 0; made < (size_t)2 << 30; made += bytes)
        CHECK(GC_malloc(bytes) != NULL);
    CHECK(GC_get_heap_size() < HEAP_MOST_BYTES);
    CHECK(kept[count - 1] != NULL);
}

int main(void)
{
    GC_INIT();
    GC_enable_incremental();
    GC_set_time_limit(1);
    work(1600);
    return 0;
}
