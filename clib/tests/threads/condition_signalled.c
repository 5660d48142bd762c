// The signal of a condition is not lost if it comes while the waiting thread is on its way between
// two sleeps. The waiter has freed memory that is soon old enough to go back.
#include "test.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready, waiting;

static void *wait_for_it(void *unused)
{
    static void *blocks[20000];
    for (int i = 0; i < 20000; i++)
        blocks[i] = malloc(200);
    for (int i = 0; i < 20000; i++)
        free(blocks[i]);
    pthread_mutex_lock(&mutex);
    waiting = 1;
    while (!ready)
        pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    pthread_t thread;
    hang_limit_seconds(10);
    CHECKED(pthread_create(&thread, NULL, wait_for_it, NULL) == 0);
    for (int seen = 0; !seen;) {
        pthread_mutex_lock(&mutex);
        seen = waiting;
        pthread_mutex_unlock(&mutex);
    }
    pthread_mutex_lock(&mutex);
    sleep(2); // longer than a piece: a waiter whose piece ended would wait for the mutex here
    ready = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    return 0;
}
