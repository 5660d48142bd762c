// free of an address in the middle of a block that another thread made, without any switch.
// only: granary
// expect: ^granary: free\({ptr}\): pointer is inside a block, 16 bytes after its start {ptr} \(class 64
// signal: SIGABRT
#include <pthread.h>
#include <stdlib.h>

static void *make(void *unused)
{
    (void)unused;
    return malloc(64);
}

int main(void)
{
    pthread_t thread;
    void *block;
    pthread_create(&thread, NULL, make, NULL);
    pthread_join(thread, &block);
    free((char *)block + 16);
    return 0;
}
