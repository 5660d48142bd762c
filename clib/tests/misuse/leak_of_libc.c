// What the libc keeps for itself until the end (the buffer of a stream, the data of ended threads)
// is not reported as a leak of the program.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// refuse: granary
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void *run(void *unused)
{
    for (size_t size = 1; size < 50000; size += 301)
        free(calloc(1, size));
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
    setenv("TZ", "UTC", 1);
    tzset();
    puts("done");
    return 0;
}
