/* Incremental and generational mode. */
#include "collector.h"

void granary_gc_note_write(const void *address) { (void)address; }

void GC_enable_incremental(void) { granary_gc_enter(); }
int GC_is_incremental_mode(void) { return 0; }
int GC_incremental_protection_needs(void) { return 0; } /* no page is ever protected against the program */
void GC_start_incremental_collection(void) {}

int GC_collect_a_little(void)
{
    granary_gc_enter();
    granary_gc_into_core();
    bool due = core_gc_should_collect();
    granary_gc_out_of_core();
    if (due) {
        struct gc_request request = {.automatic = true};
        granary_gc_collect(&request);
        granary_gc_run_finalizers_soon();
    }
    return 0;
}
