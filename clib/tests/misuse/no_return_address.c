// Debug mode captures stacks whose outermost return address is none: zero, what fresh memory holds,
// an address that nothing lies at. So do coroutines that were given a block as their stack.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// refuse: granary
#include "test.h"

// The caller's frame is as the unwinder expects it; behind it lies the address.
__attribute__((noinline)) static void with_return_address(void *address)
{
    void **place = (void **)__builtin_frame_address(0) + 1, *own = *place;
    *place = address;
    __asm__ volatile("" ::: "memory");
    void *block = malloc(10);
    block = realloc(block, 5000);
    free(block);
    *place = own;
    __asm__ volatile("" ::: "memory");
}

static void *in_thread(void *fresh)
{
    for (int i = 0; i < 3; i++) {
        with_return_address(NULL);
        with_return_address(*(void **)fresh);
        with_return_address((void *)0x12345);
        with_return_address(fresh);
        free(malloc(10));
    }
    return fresh;
}

int main(void)
{
    void *fresh = malloc(64);
    in_thread(fresh);
    pthread_t thread;
    CHECKED(pthread_create(&thread, NULL, in_thread, fresh) == 0);
    CHECKED(pthread_join(thread, NULL) == 0);
    free(fresh);
    return 0;
}
