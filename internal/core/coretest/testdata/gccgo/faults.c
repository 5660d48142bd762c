/* What every layer of the core calls when it is built by gccgo, for its tests: the glue's own sys.c, compiled with
 * other names for the calls that a test can make fail, and a double for the threads. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Calls that can be made to fail: times times, after they have worked after more times. */
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

bool granary_test_fails(int call)
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

uintptr_t granary_sys_reserve(size_t bytes) { return granary_test_fails(RESERVE) ? 0 : real_sys_reserve(bytes); }

bool granary_sys_commit(uintptr_t address, size_t bytes)
{
    return !granary_test_fails(COMMIT) && real_sys_commit(address, bytes);
}

bool granary_sys_decommit(uintptr_t address, size_t bytes)
{
    return !granary_test_fails(DECOMMIT) && real_sys_decommit(address, bytes);
}

uint32_t granary_sys_thread_id(void)
{
    static _Atomic uint32_t last;
    static __thread uint32_t id;
    if (id == 0)
        id = atomic_fetch_add(&last, 1) + 1;
    return id;
}
