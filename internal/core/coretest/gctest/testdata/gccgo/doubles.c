/* What the collector's core calls when it is built by gccgo, for its tests: doubles for the parts of the C library that
 * know its clients.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

uint32_t granary_sys_thread_id(void)
{
    static _Atomic uint32_t last;
    static __thread uint32_t id;
    if (id == 0)
        id = atomic_fetch_add(&last, 1) + 1;
    return id;
}

void granary_gc_call_procedure(uint32_t number, uintptr_t object, uintptr_t marker, uintptr_t environment)
{
    (void)number, (void)object, (void)marker, (void)environment;
}

bool granary_gc_disclaim(uint32_t procedure, uintptr_t object)
{
    (void)procedure, (void)object;
    return false;
}

void granary_gc_marks_differ(uintptr_t object, uintptr_t bytes, uint32_t what)
{
    printf("the markers differ on %#lx of %lu bytes: %u\n", (unsigned long)object, (unsigned long)bytes, what);
    exit(1);
}
