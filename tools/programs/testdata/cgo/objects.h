/* What the Go program calls: objects of libgc.so.1 that only C keeps. */
#ifndef OBJECTS_H
#define OBJECTS_H

#include <stdint.h>

enum { ROOTS = 256 };

/* Made a root with GC_add_roots. */
void roots_start(void);
/* Keeps a tree in a root instead of the one that was there; the sum of what is there. */
void roots_set(int number, int depth, uint64_t seed);
uint64_t roots_sum(int number);

/* The sum of a tree that only this call's stack keeps, while garbage is made, and while Go runs, called from here, if
 * call is not 0. */
uint64_t sum_on_stack(int depth, uint64_t seed, int call);

/* A thread of C's that does so, calls Go as well, and ends. Returns the sum, UINT64_MAX if there is no thread. */
uint64_t sum_in_thread(int depth, uint64_t seed);

void collect(void);
uint64_t collections(void);

/* Objects with a finalizer that are made and dropped; how many finalizers have run. */
void finalized_make(int count);
uint64_t finalized_count(void);

#endif
