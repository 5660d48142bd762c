/* stack.h: capturing stacks (capture.c), and naming what is on them (stack.c, symbols.c). Private
 * to the guard. */
#ifndef GRANARY_STACK_H
#define GRANARY_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As in internal/core/guard/stacks.go. */
enum { FRAMES_MOST = 24, NAME_BYTES = 400 };

/* What is known of an address of code. */
struct code_place {
    char function[NAME_BYTES]; /* demangled; empty: not known */
    uintptr_t offset;          /* from the function's start */
    const char *object;        /* path of the object's file, or NULL */
    uintptr_t object_offset;   /* as addr2line wants it */
    bool own;                  /* a function of Granary, linked into the program */
};

/* Prepares the unwinder and finds out where the library's own code lies. May allocate; called
 * once. */
void granary_stack_start(void);

/* Prepares capturing; may_load: libgcc_s may be loaded for it. */
void granary_capture_start(bool may_load);

/* unwind_ask.c: from now on asked is told whenever the unwinder in the object of this address looks for the tables of
 * a code address, with the frame of the call and whether there are none. False if that cannot be. */
bool granary_unwind_watch(void *unwinder, void (*asked)(uintptr_t frame, bool missing));

/* How many of the innermost frames are the library's own. */
size_t granary_stack_skip_own(const uintptr_t *pc, size_t count);

/* Captures the frames of this thread's stack, without those of Granary. Returns how many. Calls of
 * one kind have the same frames of Granary, mostly. */
enum { CAPTURE_MALLOC, CAPTURE_FREE, CAPTURE_KINDS };
size_t granary_stack_capture(uintptr_t frames[FRAMES_MOST], unsigned kind);

/* Says where a return address lies. Allocates where names are demangled; not thread-safe. */
void granary_stack_describe(uintptr_t pc, struct code_place *place);

/* Where the function around a return address begins; the address itself if that is not known. */
uintptr_t granary_stack_function(uintptr_t pc);

/* symbols.c: the function around an address of the object at path, loaded with that bias, from the
 * file's symbol table; NULL if there is none. The name stays valid. Not thread-safe. */
const char *granary_symbol(const char *path, uintptr_t bias, uintptr_t address, uintptr_t *start);

/* The system's libraries: the libc and its parts, the loader, the C++ library. */
enum { MODULES_MOST = 64, RANGES_MOST = 96 };

struct modules {
    size_t count;
    struct {
        uintptr_t start, end;
        bool loader;
    } list[MODULES_MOST];
    size_t range_count;
    uintptr_t ranges[RANGES_MOST][2]; /* their writable data, but for the list of streams */
};

void granary_stack_modules(struct modules *modules);

/* Whether an address lies in one of them: 0 no, 1 yes, 2 in the loader. */
int granary_stack_in_system(const struct modules *modules, uintptr_t address);

#endif
