/* Capturing stacks with the unwinder of libgcc: exact, but some 100 ns a frame. Most of a stack is
 * the same as at the thread's last call of the same kind, so that stack is kept: as soon as the
 * walk meets a frame of it, and every return address further out is still in its place, the rest
 * is taken over.
 *
 * A frame is known by its code address and its stack pointer. On x86-64 the return address into it
 * lies just below that; where this does not hold (a signal's frame, other machines), a stack is not
 * kept.
 *
 * A return address may be none: the outermost function of a coroutine has no caller, and where one should be lies what
 * its stack held before. The unwinder would read code there. It asks for the tables of an address first, and if there
 * are none the walk ends (unwind_ask.c). */
#include "core.h"
#include "stack.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unwind.h>

enum {
    WALK_MOST = 64,   /* frames of a walk: more than are reported, so that shorter stacks that
                         follow still find all of theirs */
    SLOTS_COUNT = 512, /* threads share slots if there are more */
    OWN_MOST = 12,    /* the library's own frames above the caller's */
};

struct walk {
    size_t count;
    bool complete; /* up to the outermost frame */
    uintptr_t pc[WALK_MOST], sp[WALK_MOST];
};

/* The last stack of a thread and the one that is being captured. */
struct slot {
    _Atomic uint32_t user; /* the thread that is at work here, 0: none */
    uint32_t thread;       /* whose last stack it is */
    uint32_t last;         /* which of the two it is */
    uintptr_t frame;       /* of the walk that is going on, 0: none */
    void *end[5];          /* where it goes on when it ends early */
    struct walk walks[2];
};

struct step {
    const struct walk *last;
    struct walk *walk;
    size_t at; /* in last: the first frame that may be met */
};

static struct slot *slots;

typedef _Unwind_Reason_Code (*backtrace_function)(_Unwind_Trace_Fn, void *);
extern _Unwind_Reason_Code unwind_backtrace(_Unwind_Trace_Fn, void *)
    __asm__("_Unwind_Backtrace") __attribute__((weak));
extern _Unwind_Ptr unwind_ip(struct _Unwind_Context *)
    __asm__("_Unwind_GetIP") __attribute__((weak));
extern _Unwind_Word unwind_cfa(struct _Unwind_Context *)
    __asm__("_Unwind_GetCFA") __attribute__((weak));

static struct {
    backtrace_function walk;
    _Unwind_Ptr (*ip)(struct _Unwind_Context *);
    _Unwind_Word (*cfa)(struct _Unwind_Context *);
} unwinder;

/* Bytes of stack from the frame of a walk to the unwinder's question: the same for every frame, and not for the walks
 * of signal handlers, which are not to be ended. 0: no walk is ended. */
static uintptr_t depth;
static bool measuring;

static struct slot *slot_of(uint32_t thread, unsigned kind)
{
    return &slots[(thread * CAPTURE_KINDS + kind) % SLOTS_COUNT];
}

__attribute__((noinline)) static void asked(uintptr_t frame, bool missing)
{
    if (LIKELY(!missing && !measuring))
        return;
    uint32_t thread = granary_sys_thread_id();
    for (unsigned kind = 0; kind < CAPTURE_KINDS; kind++) {
        struct slot *slot = slot_of(thread, kind);
        if (atomic_load(&slot->user) != thread || slot->frame == 0)
            continue;
        if (measuring)
            depth = slot->frame - frame; /* the first questions are another's; the last counts */
        else if (slot->frame - frame == depth)
            __builtin_longjmp(slot->end, 1);
    }
}

static void find_unwinder(bool may_load)
{
    unwinder.walk = unwind_backtrace;
    unwinder.ip = unwind_ip;
    unwinder.cfa = unwind_cfa;
    if (unwinder.walk != NULL || !may_load)
        return;
    void *library = dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL) {
        const char *reason = dlerror();
        granary_message("granary: no stacks can be shown: %s; install libgcc_s.so.1 where the program finds it\n",
                        reason != NULL ? reason : "libgcc_s.so.1 cannot be loaded");
        return;
    }
    unwinder.walk = (backtrace_function)dlsym(library, "_Unwind_Backtrace");
    unwinder.ip = (__typeof__(unwinder.ip))dlsym(library, "_Unwind_GetIP");
    unwinder.cfa = (__typeof__(unwinder.cfa))dlsym(library, "_Unwind_GetCFA");
}

void granary_capture_start(bool may_load)
{
    void *frame[1];
    backtrace(frame, 1); /* loads libgcc_s for the way without slots */
    find_unwinder(may_load);
    if (unwinder.walk == NULL || unwinder.ip == NULL || unwinder.cfa == NULL)
        return;
    void *memory = mmap(NULL, SLOTS_COUNT * sizeof *slots, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return;
    slots = memory;
    if (granary_unwind_watch((void *)unwinder.walk, asked)) {
        uintptr_t frames[FRAMES_MOST];
        measuring = true;
        granary_stack_capture(frames, CAPTURE_MALLOC);
        measuring = false;
    }
}

static bool in_place(const struct walk *walk, size_t from)
{
    for (size_t i = from; i < walk->count; i++)
        if (((const uintptr_t *)walk->sp[i])[-1] != walk->pc[i])
            return false;
    return true;
}

/* Takes over what lies outside of a frame that the last stack has too. Not if that stack was cut
 * short and would leave too few frames. */
static bool take_over(struct step *step, size_t from)
{
    const struct walk *last = step->last;
    struct walk *walk = step->walk;
    size_t more = last->count - from;
    if (!last->complete && walk->count + more < FRAMES_MOST + OWN_MOST)
        return false;
    if (!in_place(last, from))
        return false;
    walk->complete = last->complete;
    for (size_t i = from; i < last->count; i++) {
        if (walk->count == WALK_MOST) {
            walk->complete = false;
            break;
        }
        walk->pc[walk->count] = last->pc[i];
        walk->sp[walk->count++] = last->sp[i];
    }
    return true;
}

static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *argument)
{
    struct step *step = argument;
    struct walk *walk = step->walk;
    const struct walk *last = step->last;
    uintptr_t pc = unwinder.ip(context), sp = unwinder.cfa(context);
    if (pc == 0)
        return _URC_NO_REASON; /* the end of the stack is told like a frame */
    if (walk->count == WALK_MOST) {
        walk->complete = false;
        return _URC_NORMAL_STOP;
    }
    walk->pc[walk->count] = pc;
    walk->sp[walk->count++] = sp;
    while (step->at < last->count && last->sp[step->at] < sp)
        step->at++;
    bool met = step->at < last->count && last->sp[step->at] == sp && last->pc[step->at] == pc;
    return met && take_over(step, step->at + 1) ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

/* Whether a stack may be kept: its frames lie one above the other, each below its return
 * address. */
static bool is_regular(const struct walk *walk)
{
    for (size_t i = 1; i < walk->count; i++)
        if (walk->sp[i] <= walk->sp[i - 1])
            return false;
    return in_place(walk, 1);
}

static size_t keep(uintptr_t frames[FRAMES_MOST], const uintptr_t *pc, size_t count)
{
    size_t first = granary_stack_skip_own(pc, count), kept = 0;
    for (; first < count && kept < FRAMES_MOST && pc[first] != 0; first++)
        frames[kept++] = pc[first];
    return kept;
}

__attribute__((noinline)) static void walk_stack(struct slot *slot, struct step *step)
{
    slot->frame = (uintptr_t)__builtin_frame_address(0);
    if (__builtin_setjmp(slot->end) == 0)
        unwinder.walk(visit, step);
    slot->frame = 0;
}

static size_t capture_in(struct slot *slot, uint32_t thread, uintptr_t frames[FRAMES_MOST])
{
    struct walk *walk = &slot->walks[1 - slot->last];
    struct step step = {.last = &slot->walks[slot->last], .walk = walk};
    if (slot->thread != thread) {
        slot->thread = thread;
        slot->walks[slot->last].count = 0;
    }
    walk->count = 0;
    walk->complete = true;
    walk_stack(slot, &step);
    size_t kept = keep(frames, walk->pc, walk->count);
    if (!is_regular(walk))
        walk->count = 0;
    slot->last = 1 - slot->last;
    return kept;
}

size_t granary_stack_capture(uintptr_t frames[FRAMES_MOST], unsigned kind)
{
    uint32_t thread = granary_sys_thread_id(), nobody = 0;
    if (slots != NULL) {
        struct slot *slot = slot_of(thread, kind);
        if (atomic_compare_exchange_strong(&slot->user, &nobody, thread)) {
            size_t kept = capture_in(slot, thread, frames);
            atomic_store(&slot->user, 0);
            return kept;
        }
    }
    void *all[FRAMES_MOST + OWN_MOST];
    int count = backtrace(all, FRAMES_MOST + OWN_MOST);
    return keep(frames, (const uintptr_t *)all, count < 0 ? 0 : (size_t)count);
}
