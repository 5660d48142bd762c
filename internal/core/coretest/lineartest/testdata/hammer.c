/* Threads on the core's linear allocators, core and test built with the thread sanitizer: what the core orders, the
 * sanitizer knows from the core's own atomic operations, so memory that two threads have at one time, or that goes from
 * one to another without an order, is a data race here. The core's methods are called by their symbols. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINEAR(name) __asm__("granary_1internal_1core_1linear." name)
#define SPACE(name) __asm__("granary_1internal_1core_1space." name)

typedef struct allocator allocator;
typedef struct worker worker;

struct config {
    uintptr_t block_bytes;
    uint32_t blocks, growth, max_age;
    bool diagnose;
};

bool space_init(void *space, uintptr_t range, uintptr_t record) SPACE("Space.Init");
allocator *linear_new(void *space, struct config config) LINEAR("New");
worker *add_worker(allocator *a) LINEAR("Allocator.AddWorker");
void drop_worker(allocator *a, worker *w) LINEAR("Allocator.DropWorker");
uint32_t frame(allocator *a) LINEAR("Allocator.Frame");
uint32_t next_frame(allocator *a) LINEAR("Allocator.NextFrame");
uintptr_t need_of(allocator *a, uintptr_t size) LINEAR("Allocator.Need");
bool fits(worker *w, uint32_t frame, uintptr_t need) LINEAR("Worker.Fits");
uintptr_t bump(worker *w, uintptr_t need) LINEAR("Worker.Bump");
bool mine(worker *w, uint32_t frame, uintptr_t p) LINEAR("Worker.Mine");
bool drop(worker *w) LINEAR("Worker.Drop");
void rewind_worker(worker *w) LINEAR("Worker.Rewind");
uintptr_t alloc_ready(allocator *a, worker *w, uintptr_t need, uintptr_t align, uint32_t site)
    LINEAR("Allocator.AllocReady");
uint32_t take(allocator *a, uintptr_t need) LINEAR("Allocator.Take");
bool taken(uint32_t index) LINEAR("Taken");
uintptr_t install(allocator *a, worker *w, uint32_t index, uintptr_t need, uintptr_t align, uint32_t site)
    LINEAR("Allocator.Install");
intptr_t free_slow(allocator *a, worker *w, uintptr_t p, bool pinned) LINEAR("Allocator.FreeSlow");
bool add_overflow(allocator *a, uintptr_t p, uintptr_t bytes, uint32_t site) LINEAR("Allocator.AddOverflow");
void read_stats(allocator *a, uint64_t stats[15]) LINEAR("Allocator.Read");

enum { THREADS = 4, SLOTS = 256, FREED = 0, OVERFLOW = 1, STATS_LIVE = 7, STATS_OVERFLOWS = 8, STATS_USED = 3 };

static allocator *linear;
static _Atomic(uint64_t *) slots[SLOTS];
static atomic_bool stop;
static int rounds = 20000;

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * 2685821657736338717u >> 33;
}

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static uint64_t *make(worker *w, uintptr_t size)
{
    uintptr_t need = (size + 15) & ~(uintptr_t)15, p = 0;
    if (fits(w, frame(linear), need)) {
        p = bump(w, need);
    } else if ((need = need_of(linear, size)) != 0) {
        p = alloc_ready(linear, w, need, 16, 1);
        if (p == 0) {
            uint32_t index = take(linear, need);
            if (taken(index))
                p = install(linear, w, index, need, 16, 1);
        }
    }
    if (p == 0) {
        p = (uintptr_t)malloc(size);
        if (!add_overflow(linear, p, size, 1))
            fail("no memory for the table");
    }
    ((uint64_t *)p)[0] = size;
    memset((uint64_t *)p + 1, (int)(size & 127), size - 8);
    return (uint64_t *)p;
}

static void give(worker *w, uint64_t *block)
{
    uintptr_t p = (uintptr_t)block;
    if (block == NULL)
        return;
    if (((unsigned char *)block)[block[0] - 1] != (block[0] & 127))
        fail("an allocation was overwritten");
    block[0] = 0;
    if (w != NULL && mine(w, frame(linear), p)) {
        if (drop(w))
            rewind_worker(w);
        return;
    }
    intptr_t result = free_slow(linear, w, p, false);
    if (result == OVERFLOW)
        free(block);
    else if (result != FREED)
        fail("a free was refused");
}

static void *work(void *argument)
{
    uint64_t random = (uintptr_t)argument * 99991 + 7;
    worker *w = add_worker(linear);
    for (int i = 0; i < rounds; i++) {
        uintptr_t size = 16 + next(&random) % 1500;
        if (next(&random) % 128 == 0)
            size = 16 + next(&random) % 300000;
        uint64_t *p = make(w, size);
        if (next(&random) % 2 == 0)
            p = atomic_exchange(&slots[next(&random) % SLOTS], p);
        give(next(&random) % 8 == 0 ? NULL : w, p);
        if (i % 3000 == 2999) {
            drop_worker(linear, w);
            w = add_worker(linear);
        }
    }
    drop_worker(linear, w);
    return NULL;
}

static void *frames(void *unused)
{
    uint64_t stats[15];
    (void)unused;
    while (!atomic_load(&stop)) {
        next_frame(linear);
        read_stats(linear, stats);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static _Alignas(4096) char space[1 << 16];
    pthread_t threads[THREADS], clock;
    if (!space_init(space, 1 << 30, 64))
        fail("no space");
    linear = linear_new(space, (struct config){.block_bytes = 65536, .blocks = 12, .max_age = 3, .diagnose = argc > 1});
    if (linear == NULL)
        fail("no allocator");
    if (argc > 1)
        rounds = atoi(argv[1]);
    pthread_create(&clock, NULL, frames, NULL);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&stop, true);
    pthread_join(clock, NULL);
    for (int i = 0; i < SLOTS; i++)
        give(NULL, atomic_load(&slots[i]));
    uint64_t stats[15];
    read_stats(linear, stats);
    if (stats[STATS_LIVE] != 0 || stats[STATS_OVERFLOWS] != 0 || stats[STATS_USED] != 0)
        fail("something is alive after all was freed");
    puts("fine");
    return 0;
}

/* ---- doubles ---- */

uint32_t granary_sys_thread_id(void)
{
    static atomic_uint last;
    static __thread uint32_t id;
    if (id == 0)
        id = atomic_fetch_add(&last, 1) + 1;
    return id;
}

void granary_linear_set_word(void *word, uintptr_t value)
{
    __atomic_store_n((uintptr_t *)word, value, __ATOMIC_RELAXED);
}

void granary_linear_set_live(void *word, int64_t value)
{
    __atomic_store_n((int64_t *)word, value, __ATOMIC_RELAXED);
}

void granary_linear_add_live(void *word, int64_t more)
{
    granary_linear_set_live(word, __atomic_load_n((int64_t *)word, __ATOMIC_RELAXED) + more);
}

_Noreturn void granary_fatal(const char *format, ...)
{
    (void)format;
    fail("the core stops");
    abort();
}
