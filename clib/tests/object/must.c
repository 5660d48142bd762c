// The use of a deleted object that must exist stops the program with the type and the message.
// only: granary
// link: {granary}
// expect: ^granary: monster: Object does not exist\.$
// expect: ^  run with GRANARY_DEBUG_ALLOC=1 to see where it was deleted
// signal: SIGABRT
#include "granary.h"
#include <stddef.h>

int main(void)
{
    granary_object_type *type = granary_object_type_new("monster", 32, NULL, 0, 0);
    granary_ref monster = granary_object_new(type), copy = monster;
    granary_object_delete(&monster);
    *(int *)granary_object_must(copy) = 1;
    return 0;
}
