#define GC_THREADS
#include <gc/gc.h>
#undef pthread_create /* of gc.h: the threads here are not made known to the collector */
#undef pthread_join
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "_cgo_export.h"
#include "objects.h"

struct node {
    struct node *left, *right;
    uint64_t value;
};

static struct node **roots;
static _Atomic uint64_t finalized;

static struct node *tree(int depth, uint64_t seed)
{
    struct node *node = GC_MALLOC(sizeof *node);
    if (node == NULL)
        abort();
    node->value = seed;
    if (depth > 0) {
        node->left = tree(depth - 1, seed * 3 + 1);
        node->right = tree(depth - 1, seed * 5 + 2);
    }
    return node;
}

static uint64_t sum(const struct node *node)
{
    return node == NULL ? 0 : node->value + sum(node->left) + sum(node->right);
}

/* Garbage of the sizes of a tree's nodes and of others, filled: what was lost is overwritten. */
static void litter(int count)
{
    for (int i = 0; i < count; i++) {
        size_t bytes = sizeof(struct node) << i % 4;
        uint64_t *words = GC_MALLOC(bytes);
        for (size_t word = 0; word < bytes / sizeof *words; word++)
            words[word] = UINT64_MAX / 3;
    }
}

void roots_start(void)
{
    roots = calloc(ROOTS, sizeof *roots);
    if (roots == NULL)
        abort();
    GC_add_roots(roots, roots + ROOTS);
}

void roots_set(int number, int depth, uint64_t seed) { roots[number] = tree(depth, seed); }
uint64_t roots_sum(int number) { return sum(roots[number]); }

uint64_t sum_on_stack(int depth, uint64_t seed, int call)
{
    struct node *volatile kept = tree(depth, seed);
    litter(500);
    if (call != 0)
        fromC(call);
    litter(500);
    return sum(kept);
}

struct job {
    int depth;
    uint64_t seed, sum;
};

static void *do_job(void *argument)
{
    struct job *job = argument;
    job->sum = sum_on_stack(job->depth, job->seed, 1);
    return NULL;
}

uint64_t sum_in_thread(int depth, uint64_t seed)
{
    struct job job = {depth, seed, 0};
    pthread_t thread;
    if (pthread_create(&thread, NULL, do_job, &job) != 0 || pthread_join(thread, NULL) != 0)
        return UINT64_MAX;
    return job.sum;
}

void collect(void) { GC_gcollect(); }
uint64_t collections(void) { return GC_get_gc_no(); }

static void note(void *object, void *unused)
{
    (void)object;
    (void)unused;
    atomic_fetch_add(&finalized, 1);
}

void finalized_make(int count)
{
    for (int i = 0; i < count; i++)
        GC_REGISTER_FINALIZER(tree(1, 7), note, NULL, NULL, NULL);
}

uint64_t finalized_count(void) { return atomic_load(&finalized); }
