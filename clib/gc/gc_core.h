/* The functions of the Go package gc as the C library calls them.
 *
 * Declared as Go has them, addresses as integers: link-time optimisation inlines a function only where both languages
 * agree on its type. internal/core/gc/process*_gccgo.go is the other side. */
#ifndef GRANARY_GC_CORE_H
#define GRANARY_GC_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CORE_GC(name) __asm__("granary_1internal_1core_1gc.Process" name)

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define COLD __attribute__((cold, noinline))
#define INITIAL_EXEC __attribute__((tls_model("initial-exec")))

/* Modes: heap.go. */
enum { GC_MODE_INTERIOR = 1, GC_MODE_VERIFY = 2, GC_MODE_KEEP_BLOCKS = 4 };
/* Why an allocation has no answer: heap.go. */
enum { GC_NEED_NOTHING = 0, GC_NEED_COLLECT = 1, GC_NEED_MEMORY = 2 };
/* Flags of an allocation: large.go. */
enum { GC_ALLOC_IGNORE_OFF_PAGE = 1, GC_ALLOC_EXPAND = 2 };
/* Kinds that every heap has: kinds.go. */
enum { GC_KIND_POINTER_FREE, GC_KIND_NORMAL, GC_KIND_UNCOLLECTABLE, GC_KIND_POINTER_FREE_UNCOLLECTABLE };
/* Orders of finalizers: finalize.go. */
enum { GC_ORDER_NORMAL, GC_ORDER_IGNORE_SELF, GC_ORDER_NONE, GC_ORDER_UNREACHABLE };

enum { GC_KINDS_MOST = 64, GC_BLOCK_BYTES = 4096, GC_GRANULE_BYTES = 16, GC_SMALL_MOST_BYTES = 2048 };

/* stats.go: Stats. */
struct gc_core_stats {
    uint64_t range, limit, heap, free, free_dirty, large, unswept, meta, released;
    uint64_t collections, live, live_plain, before, since, target, allocated, freed;
};

/* finalize.go: FinalizationStats. */
struct gc_core_finalization {
    uint64_t short_links, long_links, finalizers, toggles, ready, cleared_links, readied, postponed, cycles;
    uintptr_t cycle;
    uint64_t bytes;
};

/* stats.go: KindStats. */
struct gc_core_kind {
    struct {
        uint64_t object_bytes, blocks, objects, live, unswept;
    } classes[32];
    uint64_t large_objects, large_bytes, large_blocks, live;
};

struct gc_core_released {
    uint64_t runs, bytes, longest, wake;
};

bool core_gc_start(uintptr_t range_bytes, uint32_t mode, uintptr_t limit) CORE_GC("Start");
void core_gc_range(uintptr_t *base, uintptr_t *bytes) CORE_GC("Range");
uintptr_t core_gc_end(void) CORE_GC("End");
uintptr_t core_gc_new_cache(void) CORE_GC("NewCache");
void core_gc_drop_cache(uintptr_t cache) CORE_GC("DropCache");
void core_gc_forget_chains(uintptr_t cache) CORE_GC("ForgetChains");

uintptr_t core_gc_alloc(uintptr_t cache, uintptr_t bytes, uint32_t kind) CORE_GC("Alloc");
uintptr_t core_gc_alloc_slow(uintptr_t cache, uintptr_t bytes, uint32_t kind, uint32_t flags, uint32_t *need)
    CORE_GC("AllocSlow");
uintptr_t core_gc_alloc_many(uintptr_t cache, uintptr_t granules, uint32_t kind, uint32_t flags, uint32_t *need)
    CORE_GC("AllocMany");
bool core_gc_free(uintptr_t cache, uintptr_t object) CORE_GC("Free");
bool core_gc_resize(uintptr_t object, uintptr_t bytes) CORE_GC("Resize");
uintptr_t core_gc_rounded_size(uintptr_t bytes, uint32_t kind) CORE_GC("RoundedSize");
uintptr_t core_gc_base_of(uintptr_t address) CORE_GC("BaseOf");
uintptr_t core_gc_size_of(uintptr_t address) CORE_GC("SizeOf");
uint32_t core_gc_kind_of(uintptr_t address) CORE_GC("KindOf");
bool core_gc_is_marked(uintptr_t address) CORE_GC("IsMarked");
void core_gc_set_mark(uintptr_t address) CORE_GC("SetMark");
void core_gc_clear_mark(uintptr_t address) CORE_GC("ClearMark");

uint32_t core_gc_new_kind(uintptr_t descriptor, bool adjust_by_size, bool clear) CORE_GC("NewKind");
void core_gc_set_disclaim(uint32_t kind, uint32_t procedure) CORE_GC("SetDisclaim");
bool core_gc_register_displacement(uintptr_t offset) CORE_GC("RegisterDisplacement");
uintptr_t core_gc_make_descriptor(uintptr_t bitmap, uintptr_t bits) CORE_GC("MakeDescriptor");
bool core_gc_make_array_descriptor(uintptr_t bitmap, uintptr_t element_words, uintptr_t *descriptor)
    CORE_GC("MakeArrayDescriptor");

bool core_gc_should_collect(void) CORE_GC("ShouldCollect");
bool core_gc_expand(uintptr_t bytes) CORE_GC("Expand");
void core_gc_set_divisor(uintptr_t divisor) CORE_GC("SetDivisor");
void core_gc_set_limit(uintptr_t bytes) CORE_GC("SetLimit");

void core_gc_set_least_target(uintptr_t bytes) CORE_GC("SetLeastTarget");
bool core_gc_hold(void) CORE_GC("Hold");
void core_gc_unhold(void) CORE_GC("Unhold");
void core_gc_begin_cycle(bool full) CORE_GC("BeginCycle");
void core_gc_mark_range(uintptr_t low, uintptr_t high) CORE_GC("MarkRange");
void core_gc_mark_address(uintptr_t word) CORE_GC("MarkAddress");
void core_gc_mark_uncollectable(void) CORE_GC("MarkUncollectable");
void core_gc_rescan_block(uintptr_t address) CORE_GC("RescanBlock");
void core_gc_mark_from_kind(uint32_t kind) CORE_GC("MarkFromKind");
bool core_gc_drain(uint64_t deadline) CORE_GC("Drain");
void core_gc_finish_marking(void) CORE_GC("FinishMarking");
void core_gc_start_sweep(void) CORE_GC("StartSweep");
bool core_gc_sort(uint64_t deadline) CORE_GC("Sort");
bool core_gc_sweep_all(uintptr_t blocks) CORE_GC("SweepAll");
void core_gc_mark_from_procedure(uintptr_t marker, uintptr_t word) CORE_GC("MarkFromProcedure");
uint32_t core_gc_helpers_wanted(void) CORE_GC("HelpersWanted");
void core_gc_start_helpers(uint32_t helpers) CORE_GC("StartHelpers");
void core_gc_help(uint32_t number) CORE_GC("Help");
void core_gc_idle(uint64_t now, uint64_t age, struct gc_core_released *result) CORE_GC("Idle");

void core_gc_set_java_finalization(bool on) CORE_GC("SetJavaFinalization");
bool core_gc_register_finalizer(uintptr_t object, uintptr_t fn, uintptr_t data, uint32_t order, uintptr_t old[2])
    CORE_GC("RegisterFinalizer");
bool core_gc_next_ready(uintptr_t ready[3]) CORE_GC("NextReady");
uint32_t core_gc_ready_count(void) CORE_GC("ReadyCount");
bool core_gc_ready_all(void) CORE_GC("ReadyAll");
int32_t core_gc_register_link(uintptr_t link, uintptr_t object, bool is_long) CORE_GC("RegisterLink");
bool core_gc_unregister_link(uintptr_t link, bool is_long) CORE_GC("UnregisterLink");
int32_t core_gc_move_link(uintptr_t from, uintptr_t to, bool is_long) CORE_GC("MoveLink");
bool core_gc_set_toggle(uintptr_t object, int32_t state) CORE_GC("SetToggle");
uintptr_t core_gc_next_toggle(uintptr_t *cursor) CORE_GC("NextToggle");

uintptr_t core_gc_next_marked(uintptr_t after) CORE_GC("NextMarked");

void core_gc_read_stats(struct gc_core_stats *stats) CORE_GC("ReadStats");
void core_gc_read_kind(uint32_t kind, struct gc_core_kind *figures) CORE_GC("ReadKind");
void core_gc_read_finalization(struct gc_core_finalization *stats) CORE_GC("ReadFinalization");

#endif
