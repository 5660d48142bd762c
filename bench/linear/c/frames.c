/* Frames of short-lived memory on a malloc, or built with -DLINEAR on Granary's linear allocators, with -DINLINE as
 * well by their inline forms. Each line of the output is a name and nanoseconds a call, or a frame: the least and the
 * median of many batches, which stand a busy machine. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH = 1000, FRAME = 10000, KEPT = 2000 };

#ifdef LINEAR
#include <granary.h>
static granary_linear *linear;
static granary_stack *stack;
#ifdef INLINE
static __thread granary_linear_worker *worker;
#define ENTER() (worker = granary_linear_get_worker(linear))
#define ALLOC(size) granary_linear_alloc_inline(linear, worker, size)
#define FREE(p) granary_linear_free_inline(linear, worker, p)
#define PUSH(size) granary_stack_alloc_inline(stack, size)
#else
#define ENTER() ((void)0)
#define ALLOC(size) granary_linear_alloc(linear, size, 16)
#define FREE(p) granary_linear_free(linear, p)
#define PUSH(size) granary_stack_alloc(stack, size, 16)
#endif
#else
#define ENTER() ((void)0)
#define ALLOC(size) malloc(size)
#define FREE(p) free(p)
#endif

static int batches = KEPT;
static uint32_t sizes[FRAME];

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct times {
    uint64_t all[KEPT];
    int count;
};

static void note(struct times *t, uint64_t ns)
{
    if (t->count < KEPT)
        t->all[t->count++] = ns;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void print(const char *name, struct times *t, int calls)
{
    qsort(t->all, (size_t)t->count, sizeof *t->all, by_size);
    printf("%s %.2f %.2f\n", name, (double)t->all[0] / calls, (double)t->all[t->count / 2] / calls);
}

/* Allocations of 64 bytes, each touched, and their frees. */
struct pair {
    struct times alloc, free;
};

static void *small(void *argument)
{
    struct pair *result = argument;
    void *p[BATCH];
    ENTER();
    for (int i = 0; i < batches; i++) {
        uint64_t a = now();
        for (int j = 0; j < BATCH; j++)
            *(void **)(p[j] = ALLOC(64)) = NULL;
        uint64_t b = now();
        for (int j = 0; j < BATCH; j++)
            FREE(p[j]);
        note(&result->alloc, b - a);
        note(&result->free, now() - b);
    }
    return NULL;
}

/* A frame: 10,000 allocations of mixed sizes, and all of them freed; reset says by what. */
enum reset { EACH, RESET, REWIND };

static uint64_t frame(enum reset reset)
{
    static void *p[FRAME];
    uint64_t start = now();
#ifdef LINEAR
    if (reset == REWIND) {
        granary_stack_mark mark = granary_stack_get_mark(stack);
        for (int i = 0; i < FRAME; i++)
            *(void **)PUSH(sizes[i]) = NULL;
        granary_stack_rewind(stack, mark);
        return now() - start;
    }
#endif
    for (int i = 0; i < FRAME; i++)
        *(void **)(p[i] = ALLOC(sizes[i])) = NULL;
#ifdef LINEAR
    if (reset == RESET) {
        granary_linear_reset(linear);
        return now() - start;
    }
#endif
    for (int i = 0; i < FRAME; i++)
        FREE(p[i]);
    (void)reset;
    return now() - start;
}

static void frames(const char *name, enum reset reset)
{
    static struct times t;
    t.count = 0;
    for (int i = 0; i < batches / 4 + 1; i++)
        note(&t, frame(reset));
    print(name, &t, 1);
}

int main(int argc, char **argv)
{
    static struct pair one, two, other;
    uint64_t random = 88172645463325252u;
    pthread_t thread;
    if (argc > 1 && atoi(argv[1]) < KEPT)
        batches = atoi(argv[1]);
    for (int i = 0; i < FRAME; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        sizes[i] = (uint32_t)(random % 64 < 60 ? 16 + random / 64 % 240 : 256 + random / 64 % 3840);
    }
#ifdef LINEAR
    granary_linear_config config = {.name = "bench", .block_bytes = 8 << 20};
    linear = granary_linear_create(&config, sizeof config);
    stack = granary_stack_create(linear, "bench", 8 << 20);
    if (linear == NULL || stack == NULL)
        return 1;
#endif
    small(&one);
    print("alloc_64", &one.alloc, BATCH);
    print("free_64", &one.free, BATCH);
    pthread_create(&thread, NULL, small, &other);
    small(&two);
    pthread_join(thread, NULL);
    print("alloc_64_two_threads", &two.alloc, BATCH);
    print("free_64_two_threads", &two.free, BATCH);
    frames("frame_free_each", EACH);
#ifdef LINEAR
    frames("frame_reset", RESET);
    frames("frame_stack", REWIND);
#endif
    return 0;
}
