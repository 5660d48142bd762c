/* What the core's objects call of the glue's object.c, for their tests. */
#include <stdint.h>
#include <stdlib.h>

void granary_system_free(void *block);

void granary_object_free_block(void *block) { granary_system_free(block); }

uint32_t granary_object_stack(void)
{
    static uint32_t stacks;
    return ++stacks;
}

void granary_object_reentered(void) { abort(); }
