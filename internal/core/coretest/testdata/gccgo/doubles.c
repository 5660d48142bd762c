/* What the heap calls when it is built by gccgo, for its tests: the glue's own system.c, compiled with other names for
 * the calls that a test can make fail, and doubles for the parts of the glue that belong to a whole process. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool granary_test_fails(int call);
enum { SYSTEM = 3 }; /* as in faults.c */

void *real_system_malloc(size_t size);
void *real_system_calloc(size_t size);
void *real_system_realloc(void *block, size_t size);
void *real_system_aligned(size_t alignment, size_t size);

void *granary_system_malloc(size_t size) { return granary_test_fails(SYSTEM) ? NULL : real_system_malloc(size); }

void *granary_system_calloc(size_t size) { return granary_test_fails(SYSTEM) ? NULL : real_system_calloc(size); }

void *granary_system_realloc(void *block, size_t size)
{
    return granary_test_fails(SYSTEM) ? NULL : real_system_realloc(block, size);
}

void *granary_system_aligned(size_t alignment, size_t size)
{
    return granary_test_fails(SYSTEM) ? NULL : real_system_aligned(alignment, size);
}

/* ---- doubles ---- */

/* The tests hold their caches themselves: a thread that comes without one has none. */
static uintptr_t no_cache;

void granary_test_use_no_cache(uintptr_t cache) { no_cache = cache; }

uintptr_t granary_glue_enter(void) { return no_cache; }

uintptr_t granary_glue_cache(void) { return no_cache; }

void *granary_guard_malloc(size_t size, size_t alignment)
{
    (void)size;
    (void)alignment;
    return NULL;
}

void granary_guard_free(void *block) { (void)block; }

void *granary_guard_realloc(void *block, size_t size)
{
    (void)block;
    (void)size;
    return NULL;
}

size_t granary_guard_usable_size(const void *block)
{
    (void)block;
    return 0;
}

/* Misuse is noted, and the core goes on: the tests look at what it leaves behind. */
enum { MOST_REPORTS = 64 };

static struct {
    uintptr_t block, bytes;
    long what;
} reports[MOST_REPORTS];
static atomic_long report_count;

void granary_glue_misuse(uintptr_t block, uintptr_t start, size_t bytes, long what)
{
    (void)start;
    long index = atomic_fetch_add(&report_count, 1);
    if (index < MOST_REPORTS) {
        reports[index].block = block;
        reports[index].bytes = bytes;
        reports[index].what = what;
    }
}

long granary_test_misuse_count(void)
{
    long count = atomic_load(&report_count);
    return count < MOST_REPORTS ? count : MOST_REPORTS;
}

uintptr_t granary_test_misuse_block(long index) { return reports[index].block; }

uintptr_t granary_test_misuse_bytes(long index) { return reports[index].bytes; }

long granary_test_misuse_what(long index) { return reports[index].what; }

void granary_test_misuse_clear(void) { atomic_store(&report_count, 0); }
