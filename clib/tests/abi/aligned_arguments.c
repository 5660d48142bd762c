// Odd arguments of the aligned functions, as glibc 2.36 documents them: posix_memalign wants a
// power of two that is a multiple of sizeof(void *), says EINVAL and leaves the target alone;
// memalign and aligned_alloc round up to a power of two, and aligned_alloc takes sizes that are no
// multiple of the alignment.
// covers: 42
// also: GRANARY_DEBUG_ALLOC=1
// also: GRANARY_ALLOC_SYSTEM=1
#include "test.h"
#include <malloc.h>

static void posix_refuses(size_t alignment)
{
    void *target = (void *)&posix_refuses;
    int error = posix_memalign(&target, opaque_size(alignment), 64);
    CHECK(error == EINVAL, "posix_memalign(%zu) gives %d", alignment, error);
    CHECK(target == (void *)&posix_refuses, "posix_memalign(%zu) changed the target", alignment);
}

int main(void)
{
    static const size_t bad[] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 12, 24, 48, 100, 4095, 4097, SIZE_MAX};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        posix_refuses(bad[i]);

    static const struct { size_t alignment, rounded; } rounded[] = {
        {0, 16}, {1, 16}, {3, 16}, {7, 16}, {9, 16}, {17, 32}, {24, 32}, {48, 64}, {65, 128},
        {100, 128},
        {1000, 1024}, {4097, 8192},
    };
    for (size_t i = 0; i < sizeof rounded / sizeof *rounded; i++) {
        void *block = memalign(opaque_size(rounded[i].alignment), 100);
        CHECK(block != NULL && (uintptr_t)block % rounded[i].rounded == 0, "memalign(%zu) gives %p",
              rounded[i].alignment, block);
        free(block);
        block = aligned_alloc(opaque_size(rounded[i].alignment), 100);
        CHECK(block != NULL && (uintptr_t)block % rounded[i].rounded == 0,
              "aligned_alloc(%zu) gives %p", rounded[i].alignment, block);
        free(block);
    }
    // Not a multiple of the alignment: C11 forbade it, C17 and glibc do not, programs do it.
    for (size_t size = 1; size < 300; size++) {
        void *block = aligned_alloc(64, size);
        CHECK(block != NULL && (uintptr_t)block % 64 == 0, "aligned_alloc(64, %zu)", size);
        memset(block, 1, size);
        free(block);
    }
    // An alignment of more than half the address space: EINVAL, as glibc's memalign has it.
    errno = 0;
    CHECKED(memalign(opaque_size(SIZE_MAX / 2 + 2), 10) == NULL && errno == EINVAL);
    errno = 0;
    CHECKED(aligned_alloc(opaque_size(SIZE_MAX), 10) == NULL && errno == EINVAL);
    errno = 0;
    CHECKED(memalign(opaque_size(SIZE_MAX / 2 + 1), 10) == NULL && errno == ENOMEM);
    void *target = NULL;
    CHECKED(posix_memalign(&target, opaque_size(SIZE_MAX / 2 + 1), 10) == ENOMEM && target == NULL);
    return 0;
}
