// Handlers on a small alternate stack (sigaltstack) allocate in every class, also after the main
// stack overflowed.
// covers: 21
#include "test.h"
#include <setjmp.h>
#include <signal.h>

static sigjmp_buf back;
static volatile sig_atomic_t handled;

static void allocate_all(void)
{
    for (size_t size = 0; size < 60000; size += 1 + size / 4) {
        char *block = malloc(size);
        CHECKED(block != NULL);
        memset(block, 1, size);
        block = realloc(block, size + 40);
        free(block);
    }
}

static void on_usr1(int number)
{
    (void)number;
    allocate_all();
    handled++;
}
static void on_segv(int number)
{
    (void)number;
    allocate_all();
    siglongjmp(back, 1);
}

static int __attribute__((noinline)) overflow(int depth)
{
    volatile char frame[4096];
    frame[0] = (char)depth;
    int below = depth > 0 ? overflow(depth + 1) : 0;
    return below + frame[0];
}

int main(void)
{
    size_t bytes = (size_t)sysconf(_SC_SIGSTKSZ);
    char *area = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECKED(area != MAP_FAILED);
    stack_t stack = {.ss_sp = area, .ss_size = bytes};
    CHECKED(sigaltstack(&stack, NULL) == 0);
    struct sigaction action = {.sa_handler = on_usr1, .sa_flags = SA_ONSTACK};
    CHECKED(sigaction(SIGUSR1, &action, NULL) == 0);
    action.sa_handler = on_segv;
    CHECKED(sigaction(SIGSEGV, &action, NULL) == 0);
    for (int i = 0; i < 20; i++)
        raise(SIGUSR1);
    CHECKED(handled == 20);
    if (sigsetjmp(back, 1) == 0)
        overflow(1);
    allocate_all();
    return 0;
}
