/* What the collector's core calls when it is built by gccgo, for its tests: doubles for the parts of the C library that
 * know its clients.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void mark_from_procedure(void *heap, uintptr_t marker, uintptr_t word)
    __asm__("granary_1internal_1core_1gc.Heap.MarkFromProcedure");

static void *procedure_heap;

void granary_test_procedure_heap(void *heap) { procedure_heap = heap; }

/* Procedure 8 looks at the words of its object whose bits are set in its environment. */
void granary_gc_call_procedure(uint32_t number, uintptr_t object, uintptr_t marker, uintptr_t environment)
{
    for (int word = 0; number == 8 && environment >> word != 0; word++)
        if (environment >> word & 1)
            mark_from_procedure(procedure_heap, marker, ((uintptr_t *)object)[word]);
}

/* Each dead object that a kind's procedure is asked about counts; it wants to keep those whose first word is not 0. */
static atomic_long disclaimed;

long granary_test_take_disclaimed(void) { return atomic_exchange(&disclaimed, 0); }

bool granary_gc_disclaim(uint32_t procedure, uintptr_t object)
{
    atomic_fetch_add(&disclaimed, procedure);
    return *(uintptr_t *)object != 0;
}

static bool expect_differences;
static uintptr_t difference;

void granary_test_expect_differences(bool expect)
{
    expect_differences = expect;
    difference = 0;
}

uintptr_t granary_test_difference(void) { return difference; }

void granary_gc_marks_differ(uintptr_t object, uintptr_t bytes, uint32_t what)
{
    difference = object;
    if (expect_differences)
        return;
    printf("the markers differ on %#lx of %lu bytes: %u\n", (unsigned long)object, (unsigned long)bytes, what);
    exit(1);
}
