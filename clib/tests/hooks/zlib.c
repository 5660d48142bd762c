// The real zlib allocates through granary_zalloc and granary_zfree, in a program linked with the
// library.
// library: none
// only: granary
// link: {granary} -lz
#include "test.h"
#include "granary.h"
#include <zlib.h>

static int allocs, frees;
static void *count_alloc(void *opaque, unsigned int items, unsigned int size)
{
    allocs++;
    void *block = granary_zalloc(opaque, items, size);
    CHECKED(granary_usable_size(block) >= (size_t)items * size);
    return block;
}
static void count_free(void *opaque, void *block)
{
    frees++;
    granary_zfree(opaque, block);
}

int main(void)
{
    enum { BYTES = 300000 };
    unsigned char *plain = granary_malloc(BYTES), *packed = granary_malloc(2 * BYTES);
    unsigned char *again = granary_calloc(BYTES, 1);
    uint64_t random = 5;
    for (size_t i = 0; i < BYTES; i++)
        plain[i] = (unsigned char)("granary "[i % 8] + (random_next(&random) % 50 == 0));

    z_stream stream = {.zalloc = count_alloc, .zfree = count_free};
    CHECKED(deflateInit(&stream, 6) == Z_OK);
    stream.next_in = plain;
    stream.avail_in = BYTES;
    stream.next_out = packed;
    stream.avail_out = 2 * BYTES;
    CHECKED(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    size_t packed_bytes = stream.total_out;
    CHECKED(deflateEnd(&stream) == Z_OK);

    z_stream back = {.zalloc = granary_zalloc, .zfree = granary_zfree, .next_in = packed};
    CHECKED(inflateInit(&back) == Z_OK);
    back.avail_in = (unsigned)packed_bytes;
    back.next_out = again;
    back.avail_out = BYTES;
    CHECKED(inflate(&back, Z_FINISH) == Z_STREAM_END);
    CHECKED(inflateEnd(&back) == Z_OK);
    CHECKED(back.total_out == BYTES && memcmp(plain, again, BYTES) == 0);
    CHECK(allocs > 0 && allocs == frees, "%d allocations, %d frees", allocs, frees);
    // A product that overflows what zlib's types hold must not give a short block.
    void *huge = granary_zalloc(NULL, opaque_size(0xffffffffu), 0xffffffffu);
    CHECKED(huge == NULL);
    granary_free(plain);
    granary_free(packed);
    granary_free(again);
    return 0;
}
