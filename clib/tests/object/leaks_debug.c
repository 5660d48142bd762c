// What was not deleted is reported at the end of a process in debug mode, by type and place; the
// memory that objects lie in is nobody's leak.
// only: granary
// link: {granary}
// env: GRANARY_DEBUG_ALLOC=1
// cflags: -rdynamic
// expect: ^granary: leak: bullet: 3 objects were not deleted, made at:$
// expect: ^    #0 {ptr} shoot\+{ptr} \(.*leaks_debug
// expect: ^granary: leak: bullet: 1 objects are deleted but still held$
// refuse: blocks? .*never freed
// refuse: leak: ship
#include "granary.h"
#include <stddef.h>

static granary_object_type *bullets;

__attribute__((noinline)) granary_ref shoot(void)
{
    granary_ref ref = granary_object_new(bullets);
    __asm__ volatile("");
    return ref;
}

int main(void)
{
    granary_object_type *ships = granary_object_type_new("ship", 64, NULL, 0, 0);
    bullets = granary_object_type_new("bullet", 16, NULL, 0, 0);
    static granary_var target;
    for (volatile int i = 0; i < 4; i++)
        granary_object_set(&target, shoot());
    granary_ref last = target.ref;
    granary_object_delete(&last);
    granary_ref ship = granary_object_new(ships);
    granary_object_handle(ship);
    granary_object_delete(&ship);
    return 0;
}
