// There is never a thread that the program did not start: after 100 MB of traffic and waiting there
// is still one, so that unshare(CLONE_NEWUSER) and setns go on working.
// covers: 17
#include "test.h"
#include <sched.h>

int main(void)
{
    for (int round = 0; round < 3; round++) {
        static void *blocks[100000];
        for (size_t i = 0; i < 100000; i++) {
            blocks[i] = malloc(1000);
            memset(blocks[i], 1, 1000);
        }
        for (size_t i = 0; i < 100000; i++)
            free(blocks[i]);
        wait_ms(300);
    }
    size_t threads = proc_field("/proc/self/status", "Threads");
    CHECK(threads == 1, "%zu threads", threads);
    if (unshare(CLONE_NEWUSER) != 0)
        CHECK(errno == EPERM || errno == ENOSPC, "unshare(CLONE_NEWUSER): errno %d", errno);
    return 0;
}
