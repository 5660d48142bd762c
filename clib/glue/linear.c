/* Linear allocators for C: which threads have which workers, bad input, and the path into the core.
 *
 * A thread finds its worker of an allocator in a table of its own, by the allocator's tag: workers[tag]. The table of a
 * thread without one, and an entry without a worker, lead to a worker of zeros, for which every request and every
 * address takes the slow path. That makes the table, or the worker. When a thread ends its workers are dropped: their
 * blocks go back to the pool with the last allocation in them.
 *
 * The lock guards the allocators, the list of the threads' tables and the sites; it is taken on slow paths only, before
 * any lock of the core. */
#include "linear.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

/* A worker of zeros, and a table full of it. A worker is 128 bytes (worker.go). */
static const uint64_t null_worker[128 / 8];

/* An entry is what the worker's address is above that of the worker of zeros. So a table full of that one is all zeros,
 * and costs the start of a program nothing. */
struct table {
    uintptr_t workers[LINEARS_MOST];
    struct table *next;
    struct table **previous;
};

#define N (uintptr_t)null_worker
static struct table null_table;

static __thread struct table *thread INITIAL_EXEC = &null_table;

static struct linear linears[LINEARS_MOST];
static struct table *tables; /* of all threads that have one */
static uint32_t lock;
static pthread_key_t key;
static bool have_key;

void granary_linear_lock(void) { core_lock(&lock); }

void granary_linear_unlock(void) { core_unlock(&lock); }

struct linear *granary_linear_of(uintptr_t core) { return &linears[core_linear_tag(core) % LINEARS_MOST]; }

/* ---- what the core's fast paths call ---- */

uintptr_t granary_glue_linear_worker(uint32_t tag) { return N + thread->workers[tag % LINEARS_MOST]; }

void granary_linear_set_word(void *word, uintptr_t value)
{
    __atomic_store_n((uintptr_t *)word, value, __ATOMIC_RELAXED);
}

void granary_linear_set_live(void *word, int64_t value)
{
    __atomic_store_n((int64_t *)word, value, __ATOMIC_RELAXED);
}

/* One instruction on the word, which others read whole. */
void granary_linear_add_live(void *word, int64_t more) { *(int64_t *)word += more; }

/* ---- threads ---- */

static void unlist(struct table *table)
{
    *table->previous = table->next;
    if (table->next != NULL)
        table->next->previous = table->previous;
}

static void drop_workers(struct table *table)
{
    for (uint32_t tag = 0; tag < LINEARS_MOST; tag++)
        if (table->workers[tag] != 0 && linears[tag].core != 0)
            core_linear_drop_worker(linears[tag].core, N + table->workers[tag]);
}

/* The end of a thread. What its later destructors allocate makes another table, and the key's destructor runs again. */
static void leave(void *own)
{
    struct table *table = own;
    thread = &null_table;
    granary_linear_lock();
    drop_workers(table);
    unlist(table);
    granary_linear_unlock();
    core_free(table);
}

static struct table *new_table(void)
{
    struct table *table = core_malloc(sizeof *table);
    if (table == NULL)
        return NULL;
    if (!have_key || pthread_setspecific(key, table) != 0) {
        core_free(table); /* nobody would drop its workers */
        return NULL;
    }
    memset(table->workers, 0, sizeof table->workers);
    table->next = tables;
    table->previous = &tables;
    if (tables != NULL)
        tables->previous = &table->next;
    tables = table;
    thread = table;
    return table;
}

/* The thread's worker, made if need be; 0 if it can have none. */
static uintptr_t enter(uintptr_t linear)
{
    uint32_t tag = core_linear_tag(linear) % LINEARS_MOST;
    uintptr_t worker = granary_glue_linear_worker(tag);
    if (LIKELY(worker != N))
        return worker;
    int saved = errno;
    worker = 0;
    granary_linear_lock();
    if (thread != &null_table || new_table() != NULL) {
        worker = core_linear_add_worker(linear);
        if (worker != 0)
            thread->workers[tag] = worker - N;
    }
    granary_linear_unlock();
    errno = saved;
    return worker;
}

EXPORT granary_linear_worker *granary_linear_get_worker(granary_linear *linear)
{
    uintptr_t worker = enter((uintptr_t)linear);
    return (granary_linear_worker *)(worker != 0 ? worker : N);
}

/* ---- allocators ---- */

static void start(void)
{
    if (!granary_options.started)
        granary_start();
    if (!have_key)
        have_key = pthread_key_create(&key, leave) == 0;
}

static bool is_power_of_two(size_t n) { return n != 0 && (n & (n - 1)) == 0; }

EXPORT granary_linear *granary_linear_create(const granary_linear_config *config, size_t bytes)
{
    granary_linear_config c = {0};
    if (bytes > sizeof c || (config == NULL && bytes != 0)) {
        errno = EINVAL;
        return NULL;
    }
    if (bytes != 0)
        memcpy(&c, config, bytes);
    if (c.block_bytes > GRANARY_LINEAR_BLOCK_MOST || c.blocks > 64 || c.growth > 8 || c.max_age > 1 << 20) {
        errno = EINVAL;
        return NULL;
    }
    if (c.block_bytes == 0)
        c.block_bytes = 2 << 20;
    granary_linear_lock();
    start();
    bool diagnose = c.diagnose != 0 || granary_options.guard;
    if (diagnose)
        granary_linear_sites_start();
    uint32_t tag = 0;
    while (tag < LINEARS_MOST && linears[tag].core != 0)
        tag++;
    uintptr_t core = 0;
    if (tag < LINEARS_MOST)
        core = core_linear_new(c.block_bytes, c.blocks, c.growth, c.max_age, diagnose, tag);
    if (core != 0) {
        struct linear *l = &linears[tag];
        *l = (struct linear){.core = core, .max_age = c.max_age, .diagnose = diagnose};
        strncpy(l->name, c.name != NULL ? c.name : "linear", sizeof l->name - 1);
    }
    granary_linear_unlock();
    if (core == 0)
        errno = ENOMEM;
    return (granary_linear *)core;
}

EXPORT int granary_linear_destroy(granary_linear *linear)
{
    if (linear == NULL)
        return 0;
    uintptr_t core = (uintptr_t)linear;
    uint32_t tag = core_linear_tag(core) % LINEARS_MOST;
    granary_linear_lock();
    if (linears[tag].stacks != 0) {
        granary_linear_unlock();
        errno = EBUSY;
        return -1;
    }
    for (struct table *t = tables; t != NULL; t = t->next)
        t->workers[tag] = 0;
    core_linear_destroy(core);
    linears[tag].core = 0;
    granary_linear_unlock();
    return 0;
}

static void *allocate(uintptr_t core, size_t size, size_t align, bool cleared)
{
    if (align == 0)
        align = 16;
    if (!is_power_of_two(align) || align > GRANARY_LINEAR_ALIGN_MOST) {
        errno = EINVAL;
        return NULL;
    }
    if (align < 16)
        align = 16;
    uint32_t site = granary_linear_of(core)->diagnose ? granary_linear_site() : 0;
    uintptr_t block = core_linear_alloc_slow(core, enter(core), size, align, site, cleared);
    if (block == 0)
        errno = ENOMEM;
    return (void *)block;
}

/* Called by the fast paths when they do not go. */
__attribute__((noinline)) uintptr_t granary_glue_linear_alloc_slow(uintptr_t linear, size_t size, size_t align)
{
    return (uintptr_t)allocate(linear, size, align, false);
}

__attribute__((noinline)) int32_t granary_glue_linear_free_slow(uintptr_t linear, uintptr_t block)
{
    if (block == 0)
        return 0;
    uintptr_t worker = granary_glue_linear_worker(core_linear_tag(linear));
    int32_t result = core_linear_free_slow(linear, worker == N ? 0 : worker, block);
    if (LIKELY(result == FREED))
        return 0;
    struct linear *l = granary_linear_of(linear);
    if (l->diagnose)
        granary_message("granary: linear %s: free(%p): the address %s\n", l->name, (void *)block,
                        result == TWICE ? "was already freed" : "is no allocation of this allocator");
    errno = EINVAL;
    return -1;
}

EXPORT FLATTEN void *granary_linear_alloc(granary_linear *linear, size_t size, size_t align)
{
    return (void *)core_linear_alloc((uintptr_t)linear, size, align);
}

EXPORT void *granary_linear_alloc_zeroed(granary_linear *linear, size_t size, size_t align)
{
    return allocate((uintptr_t)linear, size, align, true);
}

EXPORT FLATTEN int granary_linear_free(granary_linear *linear, void *block)
{
    return core_linear_free((uintptr_t)linear, (uintptr_t)block);
}

EXPORT void granary_linear_reset(granary_linear *linear) { core_linear_reset((uintptr_t)linear); }

EXPORT uint32_t granary_linear_next_frame(granary_linear *linear)
{
    uintptr_t core = (uintptr_t)linear;
    uint64_t before = core_linear_overdue(core);
    uint32_t frame = core_linear_next_frame(core);
    uint64_t overdue = core_linear_overdue(core);
    if (overdue != before)
        granary_linear_tell(granary_linear_of(core), frame, overdue - before);
    return frame;
}

EXPORT int granary_linear_get_stats(granary_linear *linear, granary_linear_stats *stats, size_t bytes)
{
    granary_linear_stats all = {0};
    if (stats == NULL || bytes < sizeof(uint64_t)) {
        errno = EINVAL;
        return -1;
    }
    core_linear_read_stats((uintptr_t)linear, &all);
    memcpy(stats, &all, bytes < sizeof all ? bytes : sizeof all);
    return 0;
}

/* ---- fork ---- */

/* The forking thread takes the lock and the core's locks. A fork from a signal handler that interrupted whoever holds
 * one, which can be another fork, finds that it is this thread's already and leaves it alone: nested counts those. */
static uint32_t nested;

void granary_linear_fork_prepare(void)
{
    if (!core_lock(&lock))
        nested++;
    for (uint32_t tag = 0; tag < LINEARS_MOST; tag++)
        if (linears[tag].core != 0)
            core_linear_fork_prepare(linears[tag].core);
}

static bool fork_done(void)
{
    for (uint32_t tag = 0; tag < LINEARS_MOST; tag++)
        if (linears[tag].core != 0)
            core_linear_fork_done(linears[tag].core);
    if (nested != 0) {
        nested--;
        return false;
    }
    granary_linear_unlock();
    return true;
}

void granary_linear_fork_parent(void) { fork_done(); }

/* The child has none of the other threads. Their workers are dropped, so that their blocks come back when what is in
 * them is freed. */
void granary_linear_fork_child(void)
{
    if (!fork_done())
        return; /* the interrupted work goes on after the handler, in the child too */
    for (struct table *t = tables, *next; t != NULL; t = next) {
        next = t->next;
        if (t != thread) {
            drop_workers(t);
            unlist(t);
            core_free(t);
        }
    }
}
