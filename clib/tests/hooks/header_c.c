// granary.h is plain C11 that strict compilers take, and every function in it links.
// library: none
// only: granary
// cflags: -std=c11 -pedantic
// link: {granary}
#include "granary.h"
#include "test.h"

int main(void)
{
    char *block = granary_malloc(100);
    CHECKED(block != NULL && granary_usable_size(block) >= 100 && granary_owns(block));
    fill_block(block, 100, 4);
    block = granary_realloc(block, 5000);
    check_block(block, 100, 4);
    granary_free(block);
    block = granary_calloc(10, 10);
    CHECKED(is_zero(block, 100));
    granary_free(block);
    block = granary_aligned_alloc(1024, 100);
    CHECKED((uintptr_t)block % 1024 == 0);
    granary_free(block);
    granary_free(NULL);
    CHECKED(granary_good_size(33) == 48 && granary_version()[0] != 0);
    CHECKED(granary_realloc(granary_malloc(5), opaque_size(0)) == NULL);
    void *ours = malloc(100);
    CHECK(granary_owns(ours), "malloc of a linked program is not Granary's");
    granary_free(ours);
    free(granary_malloc(100));
    granary_idle();
    granary_trim();
    return 0;
}
