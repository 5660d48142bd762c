// Each way to allocate: zeroed or not, aligned, the sizes that GC_size tells, and growing, shrinking, freeing.
// library: gc
#include "check.h"

static void is_zero(const void *object, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        CHECK(((const char *)object)[i] == 0);
}

static void sizes(void)
{
    static const size_t pairs[][2] = {
        {0, 16}, {15, 16}, {16, 32}, {31, 32}, {32, 48}, {63, 64}, {64, 80}, {255, 256}, {256, 272}, {383, 384},
        {384, 448}, {447, 448}, {500, 512}, {600, 672}, {1000, 1024}, {2000, 2048}, {2047, 2048}, {2048, 2064},
        {4095, 4096}, {4096, 4112},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        void *object = GC_malloc(pairs[i][0]);
        CHECK(GC_size(object) == pairs[i][1]);
        CHECK(GC_base((char *)object + pairs[i][1] - 1) == object);
        CHECK(((uintptr_t)object & 15) == 0);
        is_zero(object, pairs[i][0]);
    }
    CHECK(GC_size(GC_malloc_uncollectable(64)) == 64);
}

static void all_ways(void)
{
    for (size_t bytes = 1; bytes < 300000; bytes = bytes * 3 / 2 + 1) {
        void *objects[] = {
            GC_malloc(bytes), GC_malloc_uncollectable(bytes), GC_malloc_ignore_off_page(bytes),
            GC_generic_malloc(bytes, 1), GC_malloc_atomic(bytes), GC_malloc_atomic_uncollectable(bytes),
            GC_malloc_atomic_ignore_off_page(bytes),
        };
        for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) {
            size_t has = 0;
            CHECK(objects[i] != NULL && GC_base(objects[i]) == objects[i] && GC_size(objects[i]) >= bytes);
            int kind = GC_get_kind_and_size(objects[i], &has);
            CHECK(has == GC_size(objects[i]));
            CHECK(kind == (i == 1 ? 2 : i == 5 ? 3 : i >= 4 ? 0 : 1));
            if (i < 4)
                is_zero(objects[i], bytes);
            memset(objects[i], 0x5a, bytes);
            GC_free(objects[i]);
        }
    }
}

static void resizing(void)
{
    unsigned char *object = GC_malloc(10);
    memset(object, 1, 10);
    object = GC_realloc(object, 5000);
    for (int i = 0; i < 5000; i++)
        CHECK(object[i] == (i < 10 ? 1 : 0));
    object = GC_realloc(object, 100);
    CHECK(object[9] == 1 && GC_size(object) < 200);
    CHECK(GC_realloc(object, 0) == NULL);
    object = GC_realloc(NULL, 7);
    CHECK(object != NULL);
    object = GC_malloc_atomic(300);
    object = GC_realloc(object, 400);
    CHECK(GC_get_kind_and_size(object, NULL) == 0);
}

static void strings_and_alignment(void)
{
    CHECK(strcmp(GC_strdup("hello"), "hello") == 0 && strcmp(GC_strndup("hello", 3), "hel") == 0);
    for (size_t alignment = 16; alignment <= 4096; alignment *= 2)
        for (size_t bytes = 1; bytes < 20000; bytes = bytes * 5 + 3) {
            char *object = GC_memalign(alignment, bytes);
            CHECK(((uintptr_t)object & (alignment - 1)) == 0);
            char *base = GC_base(object);
            CHECK(base + GC_size(base) >= object + bytes);
            memset(object, 1, bytes);
        }
    void *object = NULL;
    CHECK(GC_posix_memalign(&object, 64, 100) == 0 && ((uintptr_t)object & 63) == 0);
    CHECK(GC_posix_memalign(&object, 3, 100) != 0);
}

static void lists(void)
{
    size_t count = 0;
    for (void *object = GC_malloc_many(50), *next; object != NULL; object = next) {
        next = *(void **)object;
        is_zero((char *)object + 8, 42);
        CHECK(GC_base(object) == object && GC_size(object) >= 50);
        count++;
    }
    CHECK(count > 10);
    CHECK(GC_malloc_many(10000) != NULL);
}

int main(void)
{
    GC_INIT();
    sizes();
    all_ways();
    resizing();
    strings_and_alignment();
    lists();
    CHECK(GC_is_heap_ptr(GC_malloc(1)) && !GC_is_heap_ptr(main) && GC_base((void *)main) == NULL);
    GC_free(NULL);
    return 0;
}
