// A block freed by one thread and then by another.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: free\({ptr}\): block was already freed \(class 128
// signal: SIGABRT
#include <pthread.h>
#include <stdlib.h>

static void *free_it(void *block)
{
    free(block);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    void *block = malloc(120);
    pthread_create(&thread, NULL, free_it, block);
    pthread_join(thread, NULL);
    free(block);
    return 0;
}
