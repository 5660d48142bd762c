/* guard_print.h: what the guard tells the user. Private to guard.c and guard_print.c. */
#ifndef GRANARY_GUARD_PRINT_H
#define GRANARY_GUARD_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers of internal/core/guard/finding.go. */
enum {
    FOUND_FREED_TWICE = 1,
    FOUND_WRITTEN_FREED,
    FOUND_INSIDE,
    FOUND_NO_BLOCK,
    FOUND_PAST_END,
    FOUND_WRONG_SIZE,
};
enum { CALL_MALLOC, CALL_FREE, CALL_REALLOC, CALL_USABLE_SIZE, CALL_EXIT };

/* Finding of the same file. */
struct finding {
    uint32_t what, call;
    char *block, *start;
    size_t class_bytes, asked, offset, given;
    uint32_t alloc_stack, free_stack;
    uint32_t alloc_thread, free_thread;
    uint32_t now_stack, freed, unused;
};

/* LeakTotals of leaks.go. */
struct leak_totals {
    uint64_t blocks, bytes, system_blocks, system_bytes;
};

bool core_guard_check_all(struct finding *finding) CORE_GUARD("ProcessCheckAll");

/* Remembers stderr: some programs close it before they end. */
void granary_print_start(void);
void granary_print_after_fork_child(void);

/* Prints a finding. Several threads take turns. */
void granary_print_finding(const struct finding *finding, bool stacks);

/* Whether a finding has been printed. */
bool granary_print_failed(void);

/* Prints what was never freed. In guard_leaks.c. */
void granary_print_leaks(bool stacks);

/* Printing, in turns: between begin and end. At most 1600 bytes a call, without allocating. */
void granary_print_begin(void);
void granary_print_end(void);
void granary_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void granary_print_frames(uint32_t stack);

/* The frames of a stack. */
const uintptr_t *core_guard_stack(uint32_t id, uint32_t *count) CORE_GUARD("ProcessStack");

#endif
