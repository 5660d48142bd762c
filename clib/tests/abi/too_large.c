// Requests that cannot be met give NULL and ENOMEM, leave what was given in as it is, and spoil
// nothing, for sizes up to SIZE_MAX, everything above PTRDIFF_MAX, and products that overflow.
// covers: 37 38
// also: GRANARY_DEBUG_ALLOC=1
// also: GRANARY_ALLOC_SYSTEM=1
#include "test.h"
#include <malloc.h>

#define REFUSED(call) \
    do { \
        errno = 0; \
        void *refused = opaque_pointer(call); \
        CHECK(refused == NULL, "%s gave a block (size 0x%zx)", #call, size); \
        CHECK(errno == ENOMEM, "%s: errno is %d (size 0x%zx)", #call, errno, size); \
    } while (0)

static void refuse_size(size_t size, char *kept, size_t kept_bytes)
{
    REFUSED(malloc(size));
    REFUSED(calloc(1, size));
    REFUSED(calloc(size, 1));
    REFUSED(realloc(NULL, size));
    REFUSED(realloc(kept, size));
    REFUSED(reallocarray(NULL, size, 1));
    REFUSED(reallocarray(kept, 1, size));
    REFUSED(aligned_alloc(64, size));
    REFUSED(memalign(4096, size));
    REFUSED(valloc(size));
    REFUSED(pvalloc(size));
    void *target = &size;
    errno = 7;
    int error = posix_memalign(&target, 64, size);
    CHECK(error == ENOMEM, "posix_memalign of 0x%zx gives %d", size, error);
    CHECK(target == &size, "posix_memalign changed the target");
    check_block(kept, kept_bytes, 5);
}

static void refuse_product(size_t count, size_t size, char *kept, size_t kept_bytes)
{
    REFUSED(calloc(count, size));
    REFUSED(reallocarray(NULL, count, size));
    REFUSED(reallocarray(kept, count, size));
    check_block(kept, kept_bytes, 5);
}

int main(void)
{
    static const size_t kept_sizes[] = {50, 3000, 100000};
    for (size_t k = 0; k < 3; k++) {
        size_t kept_bytes = kept_sizes[k];
        char *kept = malloc(kept_bytes);
        CHECKED(kept != NULL);
        fill_block(kept, kept_bytes, 5);
        for (size_t i = 0; i < 70000; i = i < 300 ? i + 1 : i + 1111) {
            refuse_size(opaque_size(SIZE_MAX - i), kept, kept_bytes);
            refuse_size(opaque_size((size_t)PTRDIFF_MAX + 1 + i), kept, kept_bytes);
        }
        for (unsigned bits = 48; bits < 64; bits++) {
            size_t big = (size_t)1 << bits;
            refuse_size(opaque_size(big), kept, kept_bytes);
            refuse_product(opaque_size(big), big, kept, kept_bytes);
            refuse_product(big, opaque_size(SIZE_MAX / big + 2), kept, kept_bytes);
            refuse_product(opaque_size(SIZE_MAX / big + 2), big, kept, kept_bytes);
        }
        // Products that wrap to something small: 2^32 x 2^32, and factors just over the root.
        size_t root = (size_t)1 << 32;
        for (size_t i = 0; i < 64; i++) {
            refuse_product(root + i, opaque_size(root), kept, kept_bytes);
            refuse_product(root + i, opaque_size(root + i), kept, kept_bytes);
        }
        // A valloc or pvalloc that rounds up over the end.
        size_t size = opaque_size((size_t)PTRDIFF_MAX - 10);
        REFUSED(pvalloc(size));
        REFUSED(valloc(size));
        free(kept);
    }
    void *after = malloc(100);
    CHECKED(after != NULL);
    free(after);
    return 0;
}
