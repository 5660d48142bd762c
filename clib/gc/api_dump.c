/* Printing the state of the heap to standard output. */
#include "collector.h"

void GC_dump_named(const char *name)
{
    struct gc_core_stats stats;
    granary_gc_enter();
    granary_gc_into_core();
    core_gc_read_stats(&stats);
    granary_gc_out_of_core();
    GC_printf("*** granary: %s, collection %lu\n", name != NULL ? name : "heap", GC_gc_no);
    GC_printf("heap %lu KiB, of it free %lu KiB (%lu KiB given back), large objects %lu KiB, not swept %lu KiB\n",
              stats.heap >> 10, stats.free >> 10, (stats.free - stats.free_dirty) >> 10, stats.large >> 10,
              stats.unswept >> 10);
    GC_printf("alive after the last collection %lu KiB of %lu KiB; allocated since %lu KiB, next one at %lu KiB\n",
              stats.live >> 10, stats.before >> 10, stats.since >> 10, stats.target >> 10);
    GC_printf("allocated since the start %lu KiB, %lu KiB of it freed by the program; tables %lu KiB\n",
              stats.allocated >> 10, stats.freed >> 10, stats.meta >> 10);
    GC_printf("%u threads, %u mark helpers, longest pause %.3f ms\n", atomic_load(&granary_gc_thread_count),
              granary_gc_helper_count(), (double)atomic_load(&granary_gc_longest_pause) / 1e6);
    GC_dump_finalization();
}

void GC_dump(void) { GC_dump_named(NULL); }

/* Each size of small objects, and the large ones, of a kind. */
static void dump_kind(uint32_t kind)
{
    static struct gc_core_kind figures;
    core_gc_read_kind(kind, &figures);
    for (size_t i = 0; i < sizeof figures.classes / sizeof figures.classes[0]; i++)
        if (figures.classes[i].blocks != 0)
            GC_printf("kind %u, %4lu bytes: %lu blocks with room for %lu objects, %lu alive, %lu blocks not swept\n",
                      kind, figures.classes[i].object_bytes, figures.classes[i].blocks, figures.classes[i].objects,
                      figures.classes[i].live, figures.classes[i].unswept);
    if (figures.large_objects != 0)
        GC_printf("kind %u, large: %lu objects, %lu KiB in %lu blocks\n", kind, figures.large_objects,
                  figures.large_bytes >> 10, figures.large_blocks);
}

void GC_dump_regions(void)
{
    granary_gc_enter();
    bool took = granary_gc_lock();
    granary_gc_into_core();
    for (uint32_t kind = 0; kind < GC_KINDS_MOST; kind++)
        dump_kind(kind);
    granary_gc_out_of_core();
    granary_gc_unlock(took);
}

void GC_dump_finalization(void)
{
    struct gc_core_finalization final;
    granary_gc_enter();
    granary_gc_into_core();
    core_gc_read_finalization(&final);
    granary_gc_out_of_core();
    GC_printf("%lu finalizers, %lu of them ready; %lu short and %lu long links, %lu toggles\n", final.finalizers,
              final.ready, final.short_links, final.long_links, final.toggles);
}

/* There are no lists to print but those of each thread, which change while one looks. */
void GC_print_free_list(int kind, size_t granules)
{
    GC_printf("kind %d, %zu granules: free objects are kept by thread; see GC_dump_regions\n", kind, granules);
}
