// In debug mode the message says where the object was deleted, and where it was made.
// only: granary
// link: {granary}
// env: GRANARY_DEBUG_ALLOC=1
// cflags: -rdynamic
// expect: ^granary: monster: Object does not exist\.$
// expect: ^  deleted at:$
// expect: ^    #0 {ptr} kill\+{ptr} \(.*must_debug
// expect: ^    #1 {ptr} main\+{ptr} \(.*must_debug
// expect: ^  made at:$
// expect: ^    #0 {ptr} spawn\+{ptr} \(.*must_debug
// expect: ^    #1 {ptr} main\+{ptr} \(.*must_debug
// signal: SIGABRT
#include "granary.h"
#include <stddef.h>

static granary_object_type *type;

__attribute__((noinline)) granary_ref spawn(void)
{
    granary_ref ref = granary_object_new(type);
    __asm__ volatile("");
    return ref;
}

__attribute__((noinline)) void kill(granary_ref ref)
{
    granary_object_delete(&ref);
    __asm__ volatile("");
}

int main(void)
{
    type = granary_object_type_new("monster", 32, NULL, 0, 0);
    granary_ref monster = spawn();
    kill(monster);
    for (int i = 0; i < 1000; i++) {
        granary_ref other = granary_object_new(type);
        granary_object_delete(&other);
    }
    *(int *)granary_object_must(monster) = 1;
    return 0;
}
