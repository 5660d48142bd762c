/* The beginning: any first call that needs the heap comes here; see once.h. */
#include "collector.h"
#include "once.h"

#include <errno.h>

_Atomic bool granary_gc_started;

static const size_t RANGE_BYTES = (size_t)16 << 30;

static void start_heap(void)
{
    uint32_t mode = GC_all_interior_pointers != 0 ? GC_MODE_INTERIOR : 0;
    if (granary_gc_options.verify)
        mode |= GC_MODE_VERIFY;
    if (granary_gc_options.keep_blocks)
        mode |= GC_MODE_KEEP_BLOCKS;
    if (!core_gc_start(RANGE_BYTES, mode, granary_gc_options.limit_bytes))
        granary_fatal("granary: the system gives no address space for the collector's heap "
                      "(see ulimit -v)\n");
    uintptr_t base, bytes;
    core_gc_range(&base, &bytes);
    GC_least_plausible_heap_addr = (void *)base;
    GC_greatest_plausible_heap_addr = (void *)(base + bytes);
    if (GC_free_space_divisor != 0)
        core_gc_set_divisor(GC_free_space_divisor);
    if (granary_gc_options.initial_bytes != 0 && !core_gc_expand(granary_gc_options.initial_bytes))
        granary_message("granary: GC_INITIAL_HEAP_SIZE: the system does not give that much\n");
}

void granary_gc_start_slow(void)
{
    static struct granary_once once;
    if (!granary_once_begin(&once))
        return;
    int saved = errno;
    granary_gc_read_environment();
    start_heap();
    granary_gc_fork_start();
    granary_gc_threads_start();
    granary_gc_spin_start();
    granary_gc_apply_early_settings();
    if (granary_gc_options.verbose)
        granary_message("granary: libgc-%s in pid %d (%s)\n", GRANARY_VERSION, (int)granary_gc_process(),
                        program_invocation_short_name);
    atomic_store(&granary_gc_started, true);
    granary_once_done(&once);
    errno = saved;
}

void GC_init(void)
{
    granary_gc_enter();
    if (granary_gc_options.incremental)
        GC_enable_incremental();
}

int GC_is_init_called(void) { return atomic_load(&granary_gc_started); }

/* Nothing to do: the process's end gives everything back, and objects may be in use until then. */
void GC_deinit(void) {}
