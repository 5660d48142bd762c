/* What the tests of libgc.so.1 share. They are written against bdwgc's headers and run on both libraries. */
#ifndef GRANARY_TEST_GC_H
#define GRANARY_TEST_GC_H

#define GC_NO_THREAD_REDIRECTS 1
#define GC_THREADS 1
#include <gc.h>
#include <gc/gc_mark.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                          \
    do {                                                                                                          \
        if (!(condition)) {                                                                                       \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                       \
            exit(1);                                                                                              \
        }                                                                                                         \
    } while (0)

#define HIDDEN_LINKS 64

/* Runs fn deeper in the stack, in a frame of its own, so that no copy of an address is left above. */
static void __attribute__((noinline, noclone, unused)) far_below(void (*fn)(void *), void *argument)
{
    char room[4096];
    __asm__ volatile("" ::"r"(room) : "memory");
    fn(argument);
    memset(room, 0, sizeof room);
    __asm__ volatile("" ::"r"(room) : "memory");
}

/* Overwrites what calls have left below. */
static void __attribute__((noinline, noclone, unused)) wipe_stack(void)
{
    char room[32768];
    memset(room, 0, sizeof room);
    __asm__ volatile("" ::"r"(room) : "memory");
}

#endif
