// siglongjmp out of a handler, thousands of times, while the main code allocates (not out of malloc
// itself): no lock stays held, no block is lost.
// covers: 18
#include "test.h"
#include <setjmp.h>
#include <signal.h>

static sigjmp_buf back;
static volatile sig_atomic_t may_jump;

static void handler(int number)
{
    (void)number;
    if (may_jump) {
        may_jump = 0;
        void *block = malloc(500);
        free(block);
        siglongjmp(back, 1);
    }
}

int main(void)
{
    hang_limit_seconds(15);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_NODEFER};
    CHECKED(sigaction(SIGUSR1, &action, NULL) == 0);
    static char *volatile kept[100];
    volatile int jumps = 0;
    for (volatile int round = 0; round < 5000; round++) {
        size_t i = (size_t)round % 100, bytes = 100 + i * 300;
        free(kept[i]);
        kept[i] = malloc(bytes);
        fill_block(kept[i], bytes, i);
        if (sigsetjmp(back, 1) == 0) {
            may_jump = 1;
            raise(SIGUSR1);
            FAIL("the handler returned");
        }
        jumps++;
        check_block(kept[i], bytes, i);
    }
    CHECKED(jumps == 5000);
    return 0;
}
