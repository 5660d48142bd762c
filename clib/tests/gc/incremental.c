// Partial collections, and collections in slices: nothing is lost that only a written page leads to, whoever wrote it;
// garbage goes; a system call may write into the heap.
// library: gc
// also: GC_ENABLE_INCREMENTAL=1 GC_PAUSE_TIME_TARGET=1
// also: GC_ENABLE_INCREMENTAL=1 GC_FULL_FREQUENCY=3
// only: granary
#include "check.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OLD = 20000, ROUNDS = 40 };

struct node {
    struct node *next, *young;
    long value;
};

static struct node *volatile old;

static void make_old(void)
{
    for (long i = 0; i < OLD; i++) {
        struct node *node = GC_malloc(i % 100 == 0 ? 6000 : sizeof *node);
        node->next = old;
        node->value = i;
        old = node;
    }
}

/* New objects hang on old ones alone, and are replaced in each round. */
static void churn(long round)
{
    for (struct node *node = old; node != NULL; node = node->next) {
        if (node->young != NULL)
            CHECK(node->young->value == node->value + round - 1);
        if (node->value % 3 == round % 3 || node->young != NULL) {
            node->young = GC_malloc(sizeof *node);
            node->young->value = node->value + round;
        }
    }
}

static void check_old(void)
{
    long i = OLD;
    for (struct node *node = old; node != NULL; node = node->next)
        CHECK(node->value == --i);
    CHECK(i == 0);
}

static void *work(void *unused)
{
    struct node *mine = NULL;
    for (long i = 0; i < 100000; i++) {
        struct node *node = GC_malloc(sizeof *node);
        node->next = i % 1000 == 0 ? NULL : mine;
        node->value = i;
        mine = node;
        for (struct node *at = mine; i % 1000 == 999 && at->next != NULL; at = at->next)
            CHECK(at->value == at->next->value + 1);
    }
    return unused;
}

static void system_calls(void)
{
    char *buffer = GC_malloc_atomic(100000);
    memset(buffer, 1, 100000);
    GC_collect_a_little();
    int zeros = open("/dev/zero", O_RDONLY);
    for (int i = 0; i < 50; i++) {
        CHECK(read(zeros, buffer, 100000) == 100000);
        GC_collect_a_little();
        work(NULL);
    }
    close(zeros);
}

int main(void)
{
    GC_INIT();
    GC_enable_incremental();
    GC_word before = GC_get_gc_no();
    make_old();
    for (long round = 0; round < ROUNDS; round++) {
        churn(round);
        if (round % 10 == 0)
            GC_gcollect();
    }
    check_old();
    system_calls();
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (long round = ROUNDS; round < ROUNDS + 20; round++)
        churn(round);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    check_old();
    pid_t child = fork();
    if (child == 0) {
        for (long round = ROUNDS + 20; round < ROUNDS + 30; round++)
            churn(round);
        check_old();
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(GC_get_gc_no() > before + 10 && GC_get_heap_size() < (size_t)200 << 20);
    return 0;
}
