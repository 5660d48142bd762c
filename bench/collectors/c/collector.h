/* collector.h: what every workload of a collector shares: arguments, random numbers, the clock, and the lines that the
 * runner reads. A workload is written against the public interface of bdwgc (gc.h) and linked with libgc.so.1; which
 * one that is decides the loader.
 *
 *   NAME [SCALE [THREADS]]      SCALE: the amount of work in percent, 100 when absent
 *
 * It prints
 *
 *   seconds=0.123456            wall time of its work
 *   checksum=0123456789abcdef   made of what was read back from the objects
 *   collections=12
 *   pause_max_us=1234           the longest collection, as the thread sees that had to wait for it
 *   pause_total_us=12345
 *   NAME=NUMBER                 further figures of the workload
 */
#ifndef COLLECTOR_H
#define COLLECTOR_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifdef THREADS
#define GC_THREADS
#endif
#include <gc/gc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double collector_scale = 1.0, collector_started;
static int collector_threads = 1;
static uint64_t collection_began, collection_longest, collection_total;

static inline uint64_t nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void collector_event(GC_EventType event)
{
    if (event == GC_EVENT_START) {
        collection_began = nanoseconds();
    } else if (event == GC_EVENT_END && collection_began != 0) {
        uint64_t took = nanoseconds() - collection_began;
        collection_began = 0;
        collection_total += took;
        if (took > collection_longest)
            collection_longest = took;
    }
}

static inline void collector_start(int argc, char **argv)
{
    if (argc > 1)
        collector_scale = atof(argv[1]) / 100;
    if (argc > 2)
        collector_threads = atoi(argv[2]);
    if (collector_scale <= 0 || collector_threads < 1 || collector_threads > 64) {
        fprintf(stderr, "usage: %s [SCALE_PERCENT [THREADS]]\n", argv[0]);
        exit(2);
    }
    GC_INIT();
    GC_set_on_collection_event(collector_event);
    collector_started = (double)nanoseconds() * 1e-9;
}

static inline long scaled(long count, long least)
{
    long n = (long)((double)count * collector_scale);
    return n < least ? least : n;
}

static inline void collector_finish(uint64_t checksum)
{
    printf("seconds=%.6f\nchecksum=%016llx\ncollections=%lu\npause_max_us=%llu\npause_total_us=%llu\n",
           (double)nanoseconds() * 1e-9 - collector_started, (unsigned long long)checksum,
           (unsigned long)GC_get_gc_no(), (unsigned long long)collection_longest / 1000,
           (unsigned long long)collection_total / 1000);
}

static inline void *need(void *object)
{
    if (object == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(3);
    }
    return object;
}

/* splitmix64 */
static inline uint64_t random_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline uint32_t random_below(uint64_t *state, uint32_t limit)
{
    return (uint32_t)(((random_next(state) >> 32) * limit) >> 32);
}

static inline uint64_t mix(uint64_t value) { return random_next(&value); }

#endif
