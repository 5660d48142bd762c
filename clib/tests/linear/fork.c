// A child of fork has its parent's allocations, and the blocks of threads that it does not have come back.
// only: granary
// link: {granary}
#include "../test.h"
#include <granary.h>
#include <stdbool.h>
#include <semaphore.h>
#include <stdatomic.h>

enum { THREADS = 3, EACH = 20 };

static granary_linear *linear;
static void *made[THREADS][EACH];
static sem_t ready, go;
static atomic_bool stop;

static void *hold(void *argument)
{
    void **mine = argument;
    for (int i = 0; i < EACH; i++)
        mine[i] = memset(granary_linear_alloc(linear, 1000, 16), 7, 1000);
    sem_post(&ready);
    sem_wait(&go);
    return NULL;
}

static void *churn(void *unused)
{
    (void)unused;
    while (!stop) {
        void *p = granary_linear_alloc(linear, 700 * KIB, 16); /* too large: the table of overflows */
        CHECKED(p != NULL && granary_linear_free(linear, p) == 0);
    }
    return NULL;
}

static void child(void)
{
    granary_linear_stats stats;
    for (int i = 0; i < THREADS; i++)
        for (int j = 0; j < EACH; j++) {
            CHECKED(((char *)made[i][j])[999] == 7);
            CHECKED(granary_linear_free(linear, made[i][j]) == 0);
        }
    void *p = granary_linear_alloc(linear, 700 * KIB, 16);
    CHECKED(p != NULL && granary_linear_free(linear, p) == 0);
    CHECKED(granary_linear_get_stats(linear, &stats, sizeof stats) == 0);
    /* What the churning thread had may be alive for ever: it was in the middle of it. */
    CHECK(stats.live == 0 && stats.blocks_used == 0, "%lu blocks hold %lu", stats.blocks_used, stats.live);
    CHECKED(granary_linear_alloc(linear, 100, 16) != NULL);
    CHECKED(granary_linear_destroy(linear) == 0);
    _exit(0);
}

int main(void)
{
    granary_linear_config config = {.block_bytes = 64 * KIB};
    pthread_t holding[THREADS], churning;
    linear = granary_linear_create(&config, sizeof config);
    CHECKED(linear != NULL && sem_init(&ready, 0, 0) == 0 && sem_init(&go, 0, 0) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECKED(pthread_create(&holding[i], NULL, hold, made[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        sem_wait(&ready);
    CHECKED(pthread_create(&churning, NULL, churn, NULL) == 0);
    for (int i = 0; i < 50; i++) {
        int status;
        pid_t pid = fork();
        if (pid == 0)
            child();
        CHECKED(waitpid(pid, &status, 0) == pid);
        CHECK(status == 0, "the child ended with %d", status);
    }
    stop = true;
    CHECKED(pthread_join(churning, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        sem_post(&go);
    for (int i = 0; i < THREADS; i++)
        CHECKED(pthread_join(holding[i], NULL) == 0);
    CHECKED(granary_linear_destroy(linear) == 0);
    return 0;
}
