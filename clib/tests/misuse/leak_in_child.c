// A child reports only what it allocated itself; what it inherited is the parent's to free.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: leak: 1 block, 300 bytes, allocated at:
// expect: ^granary: 1 block \(300 bytes\) was never freed
// expect: ^granary: leak: 1 block, 7000 bytes, allocated at:
// expect: ^granary: 1 block \(7000 bytes\) was never freed
#include "test.h"

static void *volatile last;

int main(void)
{
    last = malloc(7000);
    pid_t pid = fork();
    if (pid == 0) {
        last = malloc(300);
        exit(0);
    }
    expect_child_ok(pid, "child");
    return 0;
}
