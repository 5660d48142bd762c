// mlockall by a user with 8 MiB of RLIMIT_MEMLOCK: address space that is only reserved counts for
// the kernel, so the library has to keep it out of the way. What succeeds on the libc must succeed
// here.
// covers: 30
// needs: root
#include "test.h"
#include <sys/resource.h>

int main(void)
{
    free(malloc(100));
    struct rlimit limit = {8 * MIB, 8 * MIB};
    CHECKED(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
    CHECKED(setresuid(65534, 65534, 65534) == 0);
    CHECK(mlockall(MCL_CURRENT | MCL_FUTURE) == 0, "mlockall: errno %d", errno);
    void *large = malloc(MIB);
    CHECK(large != NULL, "malloc of 1 MiB: errno %d", errno);
    static void *blocks[500];
    for (size_t i = 0; i < 500; i++) {
        blocks[i] = malloc(1000);
        CHECK(blocks[i] != NULL, "malloc of 1000 bytes: errno %d", errno);
    }
    size_t locked = proc_field("/proc/self/status", "VmLck");
    CHECK(locked <= 8 * MIB, "%zu MiB locked", locked / MIB);
    for (size_t i = 0; i < 500; i++)
        free(blocks[i]);
    free(large);
    return 0;
}
