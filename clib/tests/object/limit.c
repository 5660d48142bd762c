// Without memory a new object is Null with ENOMEM, and those alive are as they were.
// only: granary
// link: {granary}
// env: GRANARY_ALLOC_LIMIT=16M
#include "test.h"
#include "granary.h"

int main(void)
{
    granary_object_type *type = granary_object_type_new("large", 1000, NULL, 0, 0);
    CHECKED(type != NULL);
    for (int round = 0; round < 3; round++) {
        size_t count = 0;
        granary_ref ref;
        errno = 0;
        while ((ref = granary_object_new(type)) != 0) {
            fill_block(granary_object_must(ref), 1000, ++count);
            CHECK(count < 20000, "the limit never refused an object");
        }
        CHECK(errno == ENOMEM, "errno is %d", errno);
        CHECK(count > 8000, "only %zu objects", count);
        size_t seen = 0;
        for (ref = granary_object_first(type); ref != 0; ref = granary_object_after(ref))
            check_block(granary_object_must(ref), 1000, ++seen);
        CHECKED(seen == count && granary_object_delete_each(type) == count);
        CHECKED(granary_object_trim(type) > 8 * MIB);
    }
    return 0;
}
