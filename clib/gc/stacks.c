/* What is scanned of a thread: its registers, its stack from the stack pointer up, its thread-local variables.
 *
 * A stack pointer outside of the stack that the thread began with is a fiber's, or an alternate stack's: then that is
 * scanned up to the end of its mapping, and all of the thread's own stack that was ever touched, as nobody knows how
 * far it is in use. Stacks of fibers that do not run are the program's to name. */
#include "collector.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

extern void *__libc_stack_end __attribute__((weak)); /* the loader's: where the main thread began */

/* Most that is scanned of a stack whose end is not known: its mapping may be a heap. */
static const uintptr_t FOREIGN_MOST = (uintptr_t)64 << 20;
static const uintptr_t MAIN_LEAST = (uintptr_t)8 << 20, MAIN_MOST = (uintptr_t)1 << 30;
#define WORD_MASK (~(uintptr_t)7)

static void main_stack(uintptr_t *low, uintptr_t *high)
{
    struct gc_mapping mapping;
    uintptr_t inside = (uintptr_t)__builtin_frame_address(0);
    if (&__libc_stack_end != NULL && __libc_stack_end != NULL)
        inside = (uintptr_t)__libc_stack_end;
    if (!granary_gc_find_mapping(inside, &mapping))
        return;
    *high = inside != (uintptr_t)__builtin_frame_address(0) ? inside : mapping.high;
    struct rlimit limit;
    uintptr_t most = MAIN_LEAST;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur > most)
        most = limit.rlim_cur > MAIN_MOST ? MAIN_MOST : limit.rlim_cur;
    *low = *high - most; /* it grows down to there */
}

void granary_gc_own_stack(uintptr_t *low, uintptr_t *high, bool is_main)
{
    if (is_main) {
        main_stack(low, high);
        return;
    }
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    void *start;
    size_t bytes;
    if (pthread_attr_getstack(&attributes, &start, &bytes) == 0) {
        *low = (uintptr_t)start;
        *high = (uintptr_t)start + bytes;
    }
    pthread_attr_destroy(&attributes);
}

static bool is_between(uintptr_t address, uintptr_t low, uintptr_t high) { return address >= low && address < high; }

/* The bottom that the program has set by hand, if the stack pointer is below it on the same mapping. */
static uintptr_t named_bottom(const struct gc_thread *thread, uintptr_t sp, const struct gc_mapping *mapping)
{
    uintptr_t bottom = thread->fiber_bottom;
    if (bottom == 0 && thread->is_main)
        bottom = (uintptr_t)GC_stackbottom;
    return bottom > sp && bottom <= mapping->high ? bottom : 0;
}

/* Several threads may run on one mapping, as on the heap of a Go runtime, where goroutines have their stacks: what one
 * of them had marked in this stop is not marked again. */
static void mark_once(uintptr_t low, uintptr_t high, void (*mark)(uintptr_t low, uintptr_t high))
{
    enum { KEPT = 8 };
    static struct range {
        uintptr_t low, high;
    } kept[KEPT];
    static uint32_t stop, next;
    if (stop != granary_gc_stop_number()) {
        stop = granary_gc_stop_number();
        memset(kept, 0, sizeof kept);
    }
    struct range *joined = NULL;
    for (size_t i = 0; i < KEPT && joined == NULL; i++)
        if (low <= kept[i].high && kept[i].low <= high)
            joined = &kept[i];
    if (joined == NULL) {
        joined = &kept[next++ % KEPT];
        *joined = (struct range){low, low};
    }
    if (low < joined->low)
        mark(low, joined->low);
    if (high > joined->high)
        mark(joined->high, high);
    *joined = (struct range){low < joined->low ? low : joined->low, high > joined->high ? high : joined->high};
}

static void mark_foreign_stack(const struct gc_thread *thread, uintptr_t sp)
{
    struct gc_mapping mapping;
    if (!granary_gc_find_mapping(sp, &mapping) || !mapping.readable)
        return;
    uintptr_t end = named_bottom(thread, sp, &mapping);
    if (end == 0 && is_between(sp, thread->alternate_low, thread->alternate_high)
        && thread->alternate_high <= mapping.high)
        end = thread->alternate_high;
    if (end == 0)
        end = mapping.high - sp > FOREIGN_MOST ? sp + FOREIGN_MOST : mapping.high;
    mark_once(sp, end & WORD_MASK, mapping.is_private ? granary_gc_mark_touched : core_gc_mark_range);
}

static void mark_whole_stack(const struct gc_thread *thread)
{
    uintptr_t low = thread->stack_low;
    struct gc_mapping mapping;
    if (thread->is_main) {
        if (!granary_gc_find_mapping(thread->stack_high - 1, &mapping))
            return;
        if (mapping.low > low)
            low = mapping.low;
    } else if (granary_gc_find_mapping(low, &mapping) && !mapping.readable) {
        low = mapping.high; /* the guard */
    }
    if (low < thread->stack_high)
        granary_gc_mark_touched(low, thread->stack_high & WORD_MASK);
}

static void mark_registers(const ucontext_t *context)
{
    const mcontext_t *machine = &context->uc_mcontext;
#if defined(__x86_64__)
    core_gc_mark_range((uintptr_t)machine->gregs, (uintptr_t)(machine->gregs + NGREG));
    const struct _libc_fpstate *vectors = machine->fpregs;
    if (vectors == NULL)
        return;
    /* Behind the 512 bytes that all processors have lie the wider registers, if the kernel's mark is there. */
    enum { PLAIN_BYTES = 512, MARK_AT = 464, MARK = 0x46505853 };
    uint32_t words[2];
    memcpy(words, (const char *)vectors + MARK_AT, sizeof words);
    size_t bytes = words[0] == MARK && words[1] >= PLAIN_BYTES ? words[1] : PLAIN_BYTES;
    core_gc_mark_range((uintptr_t)vectors, ((uintptr_t)vectors + bytes) & WORD_MASK);
#else
    core_gc_mark_range((uintptr_t)machine, (uintptr_t)(machine + 1) & WORD_MASK);
#endif
}

void granary_gc_mark_thread(struct gc_thread *thread, uintptr_t own_sp)
{
    uintptr_t sp = own_sp;
    if (thread != granary_gc_local.self) {
        sp = granary_gc_stopped_sp(thread);
        if (thread->tid == 0)
            return;
        if (thread->context != NULL)
            mark_registers(thread->context);
    }
    sp &= WORD_MASK;
    if (is_between(sp, thread->stack_low, thread->stack_high)) {
        core_gc_mark_range(sp, thread->stack_high & WORD_MASK);
    } else {
        mark_foreign_stack(thread, sp);
        mark_whole_stack(thread);
    }
    granary_gc_mark_tls(thread);
}
