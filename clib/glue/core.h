/* The functions of the Go core as the glue calls them, and the glue's own internal interface.
 *
 * Go functions use the C calling convention. Their symbol is the package path with '/' written "_1", a dot, and the
 * name. No Go runtime is there: runtime.c has the few symbols that gccgo emits all the same. */
#ifndef GRANARY_GLUE_CORE_H
#define GRANARY_GLUE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "granary.h"

#define CORE_HEAP(name) __asm__("granary_1internal_1core_1heap." name)
#define CORE_GUARD(name) __asm__("granary_1internal_1core_1guard." name)

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define EXPORT __attribute__((visibility("default")))
/* The fast path of the core becomes part of the function, which begins on a cache line. */
#define FLATTEN __attribute__((flatten, aligned(64)))
#define COLD __attribute__((cold, noinline)) /* a branch that leads there is not the usual one */
#define INITIAL_EXEC __attribute__((tls_model("initial-exec")))

/* Modes of the heap: heap.go. */
enum { MODE_SYSTEM = 1, MODE_GUARD = 2, MODE_KEEP_SPANS = 4, MODE_NORMAL_SYSTEM = 8 };

struct granary_idle_result {
    uint64_t runs, bytes, longest, wake;
};

/* What the fast paths are made of is declared as Go has it, addresses as integers: link-time optimisation inlines a
 * function only where both languages agree on its type. */
uintptr_t core_try_malloc_address(uintptr_t size) CORE_HEAP("ProcessTryMalloc");
COLD uintptr_t core_malloc_slow_address(uintptr_t size) CORE_HEAP("ProcessMallocSlow");
bool core_try_free_address(uintptr_t block) CORE_HEAP("ProcessTryFree");
COLD void core_free_slow_address(uintptr_t block) CORE_HEAP("ProcessFreeSlow");
uintptr_t core_calloc_address(uintptr_t count, uintptr_t size) CORE_HEAP("ProcessCalloc");
uintptr_t core_realloc_address(uintptr_t block, uintptr_t size) CORE_HEAP("ProcessRealloc");
uintptr_t core_aligned_address(uintptr_t alignment, uintptr_t size) CORE_HEAP("ProcessAlignedAlloc");

/* A block if the thread's cache has one, else NULL. */
static inline void *core_try_malloc(size_t size) { return (void *)core_try_malloc_address(size); }

/* What is left to do when it has none. */
static inline void *core_malloc_slow(size_t size) { return (void *)core_malloc_slow_address(size); }

static inline void *core_malloc(size_t size)
{
    void *block = core_try_malloc(size);
    return LIKELY(block != NULL) ? block : core_malloc_slow(size);
}

static inline void core_free(void *block)
{
    if (UNLIKELY(!core_try_free_address((uintptr_t)block)))
        core_free_slow_address((uintptr_t)block);
}

static inline void *core_calloc(size_t count, size_t size) { return (void *)core_calloc_address(count, size); }

static inline void *core_realloc(void *block, size_t size)
{
    return (void *)core_realloc_address((uintptr_t)block, size);
}

static inline void *core_aligned_alloc(size_t alignment, size_t size)
{
    return (void *)core_aligned_address(alignment, size);
}

size_t core_usable_size(const void *block) CORE_HEAP("ProcessUsableSize");
size_t core_good_size(size_t size) CORE_HEAP("ProcessGoodSize");
bool core_owns(const void *block) CORE_HEAP("ProcessOwns");
bool core_start(size_t range_bytes, void *no_cache, uint32_t mode, size_t limit) CORE_HEAP("ProcessStart");
void *core_new_cache(void) CORE_HEAP("ProcessNewCache");
void core_drop_cache(void *cache) CORE_HEAP("ProcessDropCache");
void core_idle(uint64_t now, uint64_t age, struct granary_idle_result *result) CORE_HEAP("ProcessIdle");
void core_read_stats(granary_stats *stats) CORE_HEAP("ProcessReadStats");
void core_normal_runs(uint64_t counts[2]) CORE_HEAP("ProcessNormalRuns");
void core_give_tail(void) CORE_HEAP("ProcessGiveTail");
void core_fork_prepare(void) CORE_HEAP("ProcessForkPrepare");
void core_fork_parent(void) CORE_HEAP("ProcessForkParent");
void core_fork_child(void) CORE_HEAP("ProcessForkChild");

/* ---- start.c: the process ---- */

/* What the environment said; see docs/run.md. Set once by granary_start. */
extern struct granary_options {
    uint32_t mode;
    size_t limit;
    size_t range_bytes;
    bool trace_release; /* a line for each sweep that gave spans back */
    bool guard;         /* debug mode: patterns, canaries, stacks */
    bool count_leaks;   /* debug statistics: count what was not freed */
    bool verbose;       /* say what was done without being asked for */
    bool started;
} granary_options;

/* Prepares the process's heap. Any first call that needs it may call it; later calls return at once. */
void granary_start(void);

/* The value of an environment variable, also before the libc has set up environ. */
const char *granary_getenv(const char *name);

/* ---- thread.c ---- */

uintptr_t granary_glue_cache(void);
uintptr_t granary_glue_enter(void);
void granary_thread_start(void);

/* ---- guard.c ---- */

void granary_guard_start(void);
void granary_guard_at_exit(void);
void granary_guard_check_size(void *block, size_t size);
void granary_guard_fork_prepare(void); /* before the core's */
void granary_guard_fork_parent(void);  /* after the core's */
void granary_guard_fork_child(void);

/* ---- system.c ---- */

void granary_system_start(void);

/* ---- wait.c, sys.c, message.c ---- */

uint64_t granary_sys_now(void);
uint32_t granary_sys_thread_id(void);

/* Writes a message to stderr, a line at a time: like printf, at most 1000 bytes, without allocating. */
void granary_message(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void granary_fatal(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The real function behind one that the library interposes. */
void *granary_next_symbol(const char *name, const char *version);

#endif
