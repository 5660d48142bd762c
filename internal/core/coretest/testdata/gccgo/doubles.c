/* What the core calls when it is built by gccgo, for its tests: the glue's own sys.c and system.c, compiled with other
 * names for the calls that a test can make fail, and doubles for the parts of the glue that belong to a whole process.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- calls that can be made to fail ---- */

enum { RESERVE, COMMIT, DECOMMIT, SYSTEM, CALLS };

static struct {
    long after, times, failed;
} faults[CALLS];

void granary_test_fail(long call, long after, long times)
{
    faults[call].after = after;
    faults[call].times = times;
    faults[call].failed = 0;
}

long granary_test_failed(long call) { return faults[call].failed; }

static bool fails(int call)
{
    if (faults[call].times == 0)
        return false;
    if (faults[call].after > 0) {
        faults[call].after--;
        return false;
    }
    faults[call].times--;
    faults[call].failed++;
    return true;
}

uintptr_t real_sys_reserve(size_t bytes);
bool real_sys_commit(uintptr_t address, size_t bytes);
bool real_sys_decommit(uintptr_t address, size_t bytes);

uintptr_t granary_sys_reserve(size_t bytes) { return fails(RESERVE) ? 0 : real_sys_reserve(bytes); }

bool granary_sys_commit(uintptr_t address, size_t bytes)
{
    return !fails(COMMIT) && real_sys_commit(address, bytes);
}

bool granary_sys_decommit(uintptr_t address, size_t bytes)
{
    return !fails(DECOMMIT) && real_sys_decommit(address, bytes);
}

void *real_system_malloc(size_t size);
void *real_system_calloc(size_t size);
void *real_system_realloc(void *block, size_t size);
void *real_system_aligned(size_t alignment, size_t size);

void *granary_system_malloc(size_t size) { return fails(SYSTEM) ? NULL : real_system_malloc(size); }

void *granary_system_calloc(size_t size) { return fails(SYSTEM) ? NULL : real_system_calloc(size); }

void *granary_system_realloc(void *block, size_t size)
{
    return fails(SYSTEM) ? NULL : real_system_realloc(block, size);
}

void *granary_system_aligned(size_t alignment, size_t size)
{
    return fails(SYSTEM) ? NULL : real_system_aligned(alignment, size);
}

/* ---- doubles ---- */

uint32_t granary_sys_thread_id(void)
{
    static _Atomic uint32_t last;
    static __thread uint32_t id;
    if (id == 0)
        id = atomic_fetch_add(&last, 1) + 1;
    return id;
}

/* The tests hold their caches themselves: a thread that comes without one has none. */
static uintptr_t no_cache;

void granary_test_use_no_cache(uintptr_t cache) { no_cache = cache; }

uintptr_t granary_glue_enter(void) { return no_cache; }

uintptr_t granary_glue_cache(void) { return no_cache; }

uintptr_t granary_new_slow(size_t size)
{
    (void)size;
    return 0;
}

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
