// A timer interrupts the program every millisecond and the handler allocates and frees. That is
// against the rules, but programs do it: it must not hang; nor may blocks be handed out twice.
// covers: 18
#include "test.h"
#include <signal.h>
#include <sys/time.h>

static volatile sig_atomic_t ticks, in_malloc;
static void *from_handler[64];

static void handler(int number)
{
    (void)number;
    int saved = errno;
    ticks++;
    // As careful programs do: allocate only when the interrupted code was not in the allocator
    // itself.
    if (!in_malloc) {
        void **slot = &from_handler[ticks % 64];
        free(*slot);
        *slot = malloc(50 + (size_t)ticks % 5000);
        fill_block(*slot, 50, 1);
    }
    errno = saved;
}

int main(void)
{
    hang_limit_seconds(15);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    CHECKED(sigaction(SIGPROF, &action, NULL) == 0);
    struct itimerval timer = {{0, 1000}, {0, 1000}};
    CHECKED(setitimer(ITIMER_PROF, &timer, NULL) == 0);
    static struct { char *block; size_t bytes; } slots[512];
    uint64_t random = 11;
    while (ticks < 120) {
        uint64_t number = random_next(&random);
        size_t i = number % 512;
        if (slots[i].block)
            check_block(slots[i].block, slots[i].bytes, i);
        in_malloc = 1;
        free(slots[i].block);
        slots[i].bytes = (number >> 10) % (number % 16 ? 2000 : 50000);
        slots[i].block = malloc(slots[i].bytes);
        in_malloc = 0;
        fill_block(slots[i].block, slots[i].bytes, i);
    }
    timer = (struct itimerval){{0, 0}, {0, 0}};
    setitimer(ITIMER_PROF, &timer, NULL);
    return 0;
}
