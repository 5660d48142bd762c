/* Blocks that were never freed: whose they are, grouped by the stacks that allocated them.
 *
 * Stacks that differ only in where the innermost function calls malloc, and have blocks of one
 * size, make one group: that is what a compiler makes of one call in a loop that it unrolls. */
#include "core.h"
#include "guard_print.h"
#include "stack.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { GROUPS_PRINTED = 20, SITES_PRINTED = 8 };

uint32_t core_guard_stack_after(uint32_t id) CORE_GUARD("ProcessStackAfter");
void core_guard_set_kind(uint32_t id, uint32_t kind) CORE_GUARD("ProcessSetKind");
bool core_guard_find_leaks(const void *ranges, size_t count, struct leak_totals *totals)
    CORE_GUARD("ProcessFindLeaks");
uint64_t core_guard_stack_leaks(uint32_t id, uint64_t *bytes) CORE_GUARD("ProcessStackLeaks");

/* What was allocated on one stack, or on all of a group. */
struct leak {
    uint64_t key; /* equal for the stacks of a group */
    uint64_t blocks, bytes;
    uint32_t stack;
    uint32_t more; /* stacks behind this one that belong to its group */
};

/* ---- whose blocks ---- */

/* KindProgram etc. of internal/core/guard/leaks.go. */
enum { KIND_PROGRAM, KIND_SYSTEM, KIND_SYSTEM_IF_FOUND };

static uint32_t kind_of(const struct modules *modules, const uintptr_t *frames, uint32_t count)
{
    if (count == 0)
        return KIND_PROGRAM;
    int first = granary_stack_in_system(modules, frames[0] - 1);
    if (first == 0)
        return KIND_PROGRAM;
    if (first == 2)
        return KIND_SYSTEM;
    for (uint32_t i = 1; i < count; i++)
        if (granary_stack_in_system(modules, frames[i] - 1) == 0)
            return KIND_SYSTEM_IF_FOUND;
    return KIND_SYSTEM;
}

static bool find_leaks(struct leak_totals *totals)
{
    static struct modules modules; /* threads may have small stacks */
    granary_stack_modules(&modules);
    for (uint32_t id = core_guard_stack_after(0); id != 0; id = core_guard_stack_after(id)) {
        uint32_t count = 0;
        const uintptr_t *frames = core_guard_stack(id, &count);
        core_guard_set_kind(id, kind_of(&modules, frames, count));
    }
    return core_guard_find_leaks(modules.ranges, modules.range_count, totals);
}

/* ---- groups ---- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 32);
}

static uint64_t key_of(const struct leak *leak)
{
    uint32_t count = 0;
    const uintptr_t *frames = core_guard_stack(leak->stack, &count);
    uint64_t key = count == 0 ? 0 : granary_stack_function(frames[0]);
    for (uint32_t i = 1; i < count; i++)
        key = mix(key, frames[i]);
    key = mix(key, leak->bytes / leak->blocks);
    return mix(key, leak->bytes % leak->blocks == 0 ? 0 : leak->stack);
}

static int by_key(const void *a, const void *b)
{
    const struct leak *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->stack < y->stack ? -1 : 1;
}

/* The largest first; the stacks that were merged into another have no blocks and come last. */
static int by_bytes(const void *a, const void *b)
{
    const struct leak *x = *(struct leak *const *)a, *y = *(struct leak *const *)b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->blocks != y->blocks)
        return x->blocks > y->blocks ? -1 : 1;
    return x->stack < y->stack ? -1 : 1;
}

static size_t collect(struct leak *leaks, size_t room)
{
    size_t count = 0;
    uint32_t id = 0;
    do {
        uint64_t bytes = 0, blocks = core_guard_stack_leaks(id, &bytes);
        if (blocks != 0 && count < room) {
            leaks[count] = (struct leak){.blocks = blocks, .bytes = bytes, .stack = id};
            leaks[count].key = key_of(&leaks[count]);
            count++;
        }
        id = core_guard_stack_after(id);
    } while (id != 0);
    return count;
}

static void merge(struct leak *leaks, size_t count)
{
    qsort(leaks, count, sizeof *leaks, by_key);
    for (size_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && leaks[next].key == leaks[first].key; next++) {
            leaks[first].blocks += leaks[next].blocks;
            leaks[first].bytes += leaks[next].bytes;
            leaks[first].more++;
            leaks[next].blocks = leaks[next].bytes = 0;
        }
    }
}

/* ---- printing ---- */

static const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

static void print_group(const struct leak *leak)
{
    granary_print("granary: leak: %lu block%s, %lu bytes, allocated at:\n",
                  (unsigned long)leak->blocks, plural(leak->blocks), (unsigned long)leak->bytes);
    granary_print_frames(leak->stack);
    for (uint32_t i = 1; i <= leak->more && i <= SITES_PRINTED; i++) {
        uint32_t count = 0;
        const uintptr_t *frames = core_guard_stack(leak[i].stack, &count);
        if (count != 0)
            granary_print("    also #0 %p in the same function\n", (void *)frames[0]);
    }
}

static void print_groups(struct leak *leaks, struct leak **order, size_t count)
{
    uint64_t groups = 0, blocks = 0, bytes = 0;
    merge(leaks, count);
    for (size_t i = 0; i < count; i++)
        order[i] = &leaks[i];
    qsort(order, count, sizeof *order, by_bytes);
    for (size_t i = 0; i < count && order[i]->blocks != 0; i++) {
        if (i < GROUPS_PRINTED) {
            print_group(order[i]);
            continue;
        }
        groups++;
        blocks += order[i]->blocks;
        bytes += order[i]->bytes;
    }
    if (groups != 0)
        granary_print("granary: leak: %lu more group%s of %lu blocks, %lu bytes, not shown\n",
                      (unsigned long)groups, plural(groups), (unsigned long)blocks,
                      (unsigned long)bytes);
}

static size_t count_stacks(void)
{
    size_t count = 1;
    for (uint32_t id = core_guard_stack_after(0); id != 0; id = core_guard_stack_after(id))
        count++;
    return count;
}

/* On memory of its own: nothing is allocated while the heap is being looked at. */
static void print_stacks(void)
{
    size_t room = count_stacks();
    size_t bytes = room * (sizeof(struct leak) + sizeof(struct leak *));
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return;
    struct leak *leaks = memory;
    print_groups(leaks, (struct leak **)(leaks + room), collect(leaks, room));
    munmap(memory, bytes);
}

void granary_print_leaks(bool stacks)
{
    struct leak_totals totals = {0};
    granary_print_begin();
    if (find_leaks(&totals) && (totals.blocks != 0 || !stacks)) {
        if (stacks)
            print_stacks();
        granary_print("granary: %lu block%s (%lu bytes) %s never freed",
                      (unsigned long)totals.blocks, plural(totals.blocks),
                      (unsigned long)totals.bytes, totals.blocks == 1 ? "was" : "were");
        if (totals.system_blocks != 0)
            granary_print("; %lu more (%lu bytes) are kept by the system's libraries",
                          (unsigned long)totals.system_blocks,
                          (unsigned long)totals.system_bytes);
        granary_print("\n");
    }
    granary_print_end();
}
