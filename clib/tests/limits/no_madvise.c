// A sandbox that refuses madvise with EPERM, before the library starts: memory cannot be given
// back, everything else works, calloc is still zero and nothing is printed.
// covers: 12
// args: first
// also: GRANARY_DEBUG_ALLOC_STATS=1
// refuse: granary: (malloc|free|exit)
#include "test.h"
#include "limits/seccomp.h"
#include <malloc.h>

static void *use(void *unused)
{
    void **blocks = calloc(20000, sizeof *blocks);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < 20000; i++) {
            size_t bytes = i % 100 == 0 ? 20000 : 1 + i % 900;
            blocks[i] = calloc(1, bytes);
            CHECK(blocks[i] && is_zero(blocks[i], bytes), "calloc of %zu is not zero", bytes);
            memset(blocks[i], 0xff, bytes);
        }
        for (size_t i = 0; i < 20000; i++)
            free(blocks[i]);
        malloc_trim(0);
        wait_ms(600);
    }
    free(blocks);
    return unused;
}

int main(int argc, char **argv)
{
    if (argc == 2) {
        static const int refused[] = {SYS_madvise};
        install_filter(refused, 1, SECCOMP_RET_ERRNO | EPERM, SECCOMP_RET_ALLOW);
        execl("/proc/self/exe", argv[0], NULL);
        FAIL("exec: errno %d", errno);
    }
    CHECK(madvise(&argc, 0, MADV_DONTNEED) != 0 && errno == EPERM, "the filter is not on");
    pthread_t thread;
    start_thread(&thread, use, NULL);
    use(NULL);
    join_thread(thread);
    return 0;
}
