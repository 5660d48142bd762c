/* linear.h: linear allocators and stacks over internal/core/linear. Private to linear*.c. */
#ifndef GRANARY_LINEAR_H
#define GRANARY_LINEAR_H

#include "core.h"

#define CORE_LINEAR(name) __asm__("granary_1internal_1core_1linear." name)

bool core_lock(uint32_t *word) __asm__("granary_1internal_1core_1sys.Lock");
void core_unlock(uint32_t *word) __asm__("granary_1internal_1core_1sys.Unlock");

enum { FREED = 0, TWICE = 2, FOREIGN = 3 };

/* linear.Cursor. */
struct linear_cursor {
    uint32_t site;
    uintptr_t at;
    uint32_t frame, block;
    uintptr_t offset;
    uint32_t shard;
    uintptr_t slot;
};

/* What the fast paths are made of, with Go's types. */
uintptr_t core_linear_alloc(uintptr_t linear, uintptr_t size, uintptr_t align) CORE_LINEAR("ProcessAlloc");
int32_t core_linear_free(uintptr_t linear, uintptr_t block) CORE_LINEAR("ProcessFree");
uintptr_t core_stack_alloc(uintptr_t stack, uintptr_t size, uintptr_t align) CORE_LINEAR("ProcessStackAlloc");

uintptr_t core_linear_new(size_t block_bytes, uint32_t blocks, uint32_t growth, uint32_t max_age, uint32_t diagnose,
                          uint32_t tag) CORE_LINEAR("ProcessNew");
void core_linear_destroy(uintptr_t linear) CORE_LINEAR("ProcessDestroy");
void core_linear_reset(uintptr_t linear) CORE_LINEAR("ProcessReset");
uintptr_t core_linear_alloc_slow(uintptr_t linear, uintptr_t worker, size_t size, size_t align, uint32_t site,
                                 uint32_t cleared) CORE_LINEAR("ProcessAllocSlow");
int32_t core_linear_free_slow(uintptr_t linear, uintptr_t worker, uintptr_t block) CORE_LINEAR("ProcessFreeSlow");
uintptr_t core_linear_add_worker(uintptr_t linear) CORE_LINEAR("ProcessAddWorker");
void core_linear_drop_worker(uintptr_t linear, uintptr_t worker) CORE_LINEAR("ProcessDropWorker");
uint32_t core_linear_tag(uintptr_t linear) CORE_LINEAR("ProcessTag");
uint32_t core_linear_next_frame(uintptr_t linear) CORE_LINEAR("ProcessNextFrame");
uint64_t core_linear_overdue(uintptr_t linear) CORE_LINEAR("ProcessOverdue");
void core_linear_read_stats(uintptr_t linear, granary_linear_stats *stats) CORE_LINEAR("ProcessReadStats");
bool core_linear_next(uintptr_t linear, struct linear_cursor *cursor, uint32_t old) CORE_LINEAR("ProcessNext");
void core_linear_fork_prepare(uintptr_t linear) CORE_LINEAR("ProcessForkPrepare");
void core_linear_fork_done(uintptr_t linear) CORE_LINEAR("ProcessForkDone");

uintptr_t core_stack_new(uintptr_t linear, size_t initial) CORE_LINEAR("ProcessStackNew");
uintptr_t core_stack_aligned(uintptr_t stack, size_t size, size_t align) CORE_LINEAR("ProcessStackAligned");
void *core_stack_user(uintptr_t stack) CORE_LINEAR("ProcessStackUser");
void core_stack_set_user(uintptr_t stack, void *user) CORE_LINEAR("ProcessStackSetUser");
void core_stack_destroy(uintptr_t stack) CORE_LINEAR("ProcessStackDestroy");
void core_stack_link(uintptr_t stack, uintptr_t block) CORE_LINEAR("ProcessStackLink");
void core_stack_count_overflow(uintptr_t stack) CORE_LINEAR("ProcessStackCountOverflow");
void core_stack_mark(uintptr_t stack, granary_stack_mark *mark) CORE_LINEAR("ProcessStackMark");
bool core_stack_valid(uintptr_t stack, const granary_stack_mark *mark) CORE_LINEAR("ProcessStackValid");
uintptr_t core_stack_pop_above(uintptr_t stack, const granary_stack_mark *mark) CORE_LINEAR("ProcessStackPopAbove");
void core_stack_rewind(uintptr_t stack, const granary_stack_mark *mark) CORE_LINEAR("ProcessStackRewind");
void core_stack_read(uintptr_t stack, granary_stack_stats *stats) CORE_LINEAR("ProcessStackRead");

enum { LINEARS_MOST = 256, LINEAR_NAME_BYTES = 64 };

/* What the glue knows of an allocator beside the core, by the allocator's tag. */
struct linear {
    uintptr_t core; /* 0: the tag is free; under the lock */
    uint32_t stacks; /* open ones; under the lock */
    uint32_t max_age; /* const, as the name */
    bool diagnose;
    bool told; /* that something is too old; without diagnosing */
    char name[LINEAR_NAME_BYTES];
};

struct linear *granary_linear_of(uintptr_t core);

/* The lock of the table of allocators, of the threads' tables and of the sites. */
void granary_linear_lock(void);
void granary_linear_unlock(void);

/* linear_sites.c: the places that make allocations, by number; 0: not known. */
void granary_linear_sites_start(void);
uint32_t granary_linear_site(void);
void granary_linear_tell(struct linear *linear, uint32_t frame, uint64_t count);
void granary_linear_print_alive(struct linear *linear);

/* start.c calls these around a fork. */
void granary_linear_fork_prepare(void);
void granary_linear_fork_parent(void);
void granary_linear_fork_child(void);

#endif
