/* The guard (debug mode) as the rest of the library sees it: internal/core/guard does the work,
 * here stacks are captured for it and its findings are told. docs/design/guard.md. */
#include "core.h"
#include "guard_print.h"
#include "stack.h"

#include <errno.h>
#include <stdlib.h>

void *granary_system_malloc(size_t size);
void *granary_system_aligned(size_t alignment, size_t size);
void *granary_system_realloc(void *block, size_t size);
size_t granary_system_usable_size(const void *block);
void granary_system_free(void *block);

void core_guard_start(bool patterns) CORE_GUARD("ProcessStart");
void *core_guard_malloc(size_t size, size_t alignment, uint32_t stack) CORE_GUARD("ProcessMalloc");
void core_guard_free(void *block, uint32_t stack) CORE_GUARD("ProcessFree");
void *core_guard_realloc(void *block, size_t size, uint32_t stack) CORE_GUARD("ProcessRealloc");
size_t core_guard_usable_size(const void *, uint32_t stack) CORE_GUARD("ProcessUsableSize");
void core_guard_check_size(void *block, size_t size, uint32_t) CORE_GUARD("ProcessCheckSize");
uint32_t core_guard_intern(const uintptr_t *frames, size_t count) CORE_GUARD("ProcessIntern");
void core_guard_fork_prepare(void) CORE_GUARD("ProcessForkPrepare");
void core_guard_fork_parent(void) CORE_GUARD("ProcessForkParent");
void core_guard_fork_child(void) CORE_GUARD("ProcessForkChild");

static bool active;   /* set once by granary_guard_start */
static bool patterns; /* full debug mode; else blocks are only counted */

/* Where on its stack this thread began to capture one. What the unwinder and signal handlers do
 * meanwhile is guarded as ever, but has no stack. A value below the caller's frame is left from a
 * handler that jumped out, and does not count. */
static __thread uintptr_t capturing INITIAL_EXEC;

/* This thread prints: what the demangler allocates is the system allocator's, so that no further
 * finding gets into the message. */
static __thread bool printing INITIAL_EXEC;

__attribute__((noinline)) static uint32_t granary_guard_capture(unsigned kind)
{
    uintptr_t frames[FRAMES_MOST], here = (uintptr_t)__builtin_frame_address(0);
    if (!patterns || printing || (capturing != 0 && here <= capturing))
        return 0;
    int saved = errno;
    capturing = here;
    size_t count = granary_stack_capture(frames, kind);
    capturing = 0;
    errno = saved;
    return core_guard_intern(frames, count);
}

void *granary_guard_malloc(size_t size, size_t alignment)
{
    if (UNLIKELY(!active || printing))
        return alignment <= 16 ? granary_system_malloc(size)
                               : granary_system_aligned(alignment, size);
    return core_guard_malloc(size, alignment, granary_guard_capture(CAPTURE_MALLOC));
}

/* Blocks that the guard does not know it gives to the system allocator. */
void granary_guard_free(void *block)
{
    if (UNLIKELY(!active))
        granary_system_free(block);
    else
        core_guard_free(block, granary_guard_capture(CAPTURE_FREE));
}

void *granary_guard_realloc(void *block, size_t size)
{
    if (UNLIKELY(!active))
        return granary_system_realloc(block, size);
    return core_guard_realloc(block, size, granary_guard_capture(CAPTURE_FREE));
}

size_t granary_guard_usable_size(const void *block)
{
    if (UNLIKELY(!active))
        return granary_system_usable_size(block);
    return core_guard_usable_size(block, granary_guard_capture(CAPTURE_FREE));
}

void granary_guard_check_size(void *block, size_t size)
{
    if (active && patterns)
        core_guard_check_size(block, size, granary_guard_capture(CAPTURE_FREE));
}

void granary_guard_start(void)
{
    if ((granary_options.mode & MODE_GUARD) == 0 || active)
        return;
    if (granary_options.guard)
        granary_stack_start();
    granary_print_start();
    patterns = granary_options.guard;
    core_guard_start(patterns);
    active = true;
}

/* Called by the core, with no lock held. A thread that prints already was interrupted by a handler:
 * its message cannot be finished. */
void granary_guard_report(const struct finding *finding)
{
    if (!printing) {
        printing = true;
        granary_print_finding(finding, patterns);
        printing = false;
    }
    abort();
}

void granary_guard_at_exit(void)
{
    if (!active || printing || granary_print_failed())
        return;
    struct finding finding = {.what = 0};
    if (patterns && !core_guard_check_all(&finding)) {
        finding.call = CALL_EXIT;
        granary_guard_report(&finding);
    }
    printing = true;
    granary_print_leaks(patterns);
    printing = false;
}

void granary_guard_fork_prepare(void)
{
    if (active)
        core_guard_fork_prepare();
}

void granary_guard_fork_parent(void)
{
    if (active)
        core_guard_fork_parent();
}

void granary_guard_fork_child(void)
{
    if (!active)
        return;
    core_guard_fork_child();
    granary_print_after_fork_child();
}
