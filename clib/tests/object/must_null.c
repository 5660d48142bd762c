// So does Null, which has no type.
// only: granary
// link: {granary}
// expect: ^granary: Object does not exist\.$
// signal: SIGABRT
#include "granary.h"
#include <stddef.h>

int main(void)
{
    granary_object_type_new("monster", 32, NULL, 0, 0);
    *(int *)granary_object_must(0) = 1;
    return 0;
}
