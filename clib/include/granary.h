/* granary.h: the C interface of Granary's native heap.
 *
 * Link with -lgranary (or preload libgranary.so) and malloc, free, new and delete of the whole program are
 * Granary's. The functions below are the same heap under names of their own, with the signatures that
 * libraries with allocator hooks ask for, and what only Granary offers.
 *
 * All functions may be called from any thread at any time, but not from a signal handler. Addresses are aligned
 * to 16 bytes unless a larger alignment is asked for. Sizes are bytes. Out of memory is NULL with errno ENOMEM.
 */
#ifndef GRANARY_H
#define GRANARY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GRANARY_API __attribute__((visibility("default")))

/* The version of the library in use, as "0.1.0". The string is constant. */
GRANARY_API const char *granary_version(void);

/* As malloc, calloc, realloc, free, aligned_alloc and malloc_usable_size of C23 and glibc. */
GRANARY_API void *granary_malloc(size_t size);
GRANARY_API void *granary_calloc(size_t count, size_t size);
GRANARY_API void *granary_realloc(void *block, size_t size);
GRANARY_API void granary_free(void *block);
GRANARY_API void *granary_aligned_alloc(size_t alignment, size_t size);
GRANARY_API size_t granary_usable_size(const void *block);

/* The size that costs no more than this one: what a request is rounded up to. A caller that can use more asks for
 * that many. (What a block has beyond the size it was asked for with, granary_usable_size says.) */
GRANARY_API size_t granary_good_size(size_t size);

/* 1 if the address lies in a span, from which Granary serves up to 32 KiB, else 0: also for larger blocks. */
GRANARY_API int granary_owns(const void *address);

/* For the hooks of other libraries.
 *   zlib:    stream.zalloc = granary_zalloc; stream.zfree = granary_zfree;
 *   libpng:  png_create_read_struct_2(..., NULL, granary_png_malloc, granary_png_free)
 *   SDL2:    SDL_SetMemoryFunctions(granary_malloc, granary_calloc, granary_realloc, granary_free) */
GRANARY_API void *granary_zalloc(void *opaque, unsigned int items, unsigned int size);
GRANARY_API void granary_zfree(void *opaque, void *block);
GRANARY_API void *granary_png_malloc(void *png, size_t size);
GRANARY_API void granary_png_free(void *png, void *block);

/* Tells Granary that the program has nothing to do just now: this thread's free blocks are handed to the shared
 * pool and spans that have been empty for a second are given back to the system. Costs a clock reading when
 * called more often than four times a second. Returns the bytes given back by this call: spans, the free pages of
 * spans that rested, and larger blocks. */
GRANARY_API size_t granary_idle(void);

/* Gives back everything that is free now, whatever its age. Returns the bytes given back. As malloc_trim(0). */
GRANARY_API size_t granary_trim(void);

/* ---- what the heap holds ------------------------------------------------------------------------------ */

#define GRANARY_CLASS_COUNT 40
#define GRANARY_STATS_VERSION 1

/* One size class. All counts are since the start of the process unless they say 'now'. */
typedef struct granary_class_stats {
    uint32_t block_bytes;     /* bytes a block */
    uint32_t span_bytes;      /* bytes a span: 65536 (tiny) or 262144 (small) */
    uint64_t mallocs;         /* blocks handed to the program */
    uint64_t asked_bytes;     /* sum of the sizes the program asked for */
    uint64_t blocks;          /* in use by the program now */
    uint64_t blocks_peak;     /* most blocks outside of spans at one time, thread caches included */
    uint64_t blocks_cached;   /* free now, waiting in thread caches and in the shared pool's batches */
    uint64_t batches_in;      /* batches handed to the shared pool */
    uint64_t batches_out;     /* batches taken from it */
    uint64_t spans;           /* spans held now, empty ones included */
    uint64_t spans_peak;      /* most spans held at one time */
    uint64_t spans_taken;     /* spans taken from the range, reused ones counted again */
} granary_class_stats;

typedef struct granary_stats {
    uint32_t version;         /* GRANARY_STATS_VERSION */
    uint32_t class_count;     /* GRANARY_CLASS_COUNT */
    granary_class_stats classes[GRANARY_CLASS_COUNT];
    uint64_t range_bytes;            /* address space reserved for spans and for blocks of the normal tier */
    uint64_t used_peak_bytes;        /* most of the range in use at one time, or free and not given back */
    uint64_t span_bytes;             /* bytes of spans held by classes now */
    uint64_t resident_bytes;         /* bytes of the range that may be in memory now: the used part of spans, the
                                        normal tier's blocks, what is free and was not given back as a whole */
    uint64_t resident_peak_bytes;    /* most of the range that may have been in memory at one time */
    uint64_t metadata_bytes;         /* committed for Granary's own tables */
    uint64_t spans_released;         /* spans and large blocks given back to the system as a whole */
    uint64_t released_bytes;         /* bytes of them, and of free pages inside of spans */
    uint64_t sweeps;                 /* release sweeps that looked */
    uint64_t thread_caches;          /* thread caches in use now */
    uint64_t thread_caches_peak;
    uint64_t normal_mallocs;         /* blocks above 32 KiB: of the range up to 64 MiB, else the system allocator's */
    uint64_t normal_frees;           /* of those, and of every other block of the system allocator */
    uint64_t normal_bytes;           /* sum of the sizes asked for */
    uint64_t normal_live_bytes;      /* usable bytes of those blocks now, and of small ones the range had no room for */
    uint64_t overflow_mallocs;       /* small requests served by the system allocator: range full */
    uint64_t limit_failures;         /* requests refused by GRANARY_ALLOC_LIMIT */
    uint64_t limit_bytes;            /* that limit, 0: none */
} granary_stats;

/* Fills *stats. bytes is sizeof(granary_stats) of the caller: fields beyond it are left out, so that a program
 * built against an older header goes on working. Other threads may allocate meanwhile; each value is exact for
 * some moment during the call. Returns 0, or -1 with errno EINVAL if stats is NULL or bytes is too small. */
GRANARY_API int granary_get_stats(granary_stats *stats, size_t bytes);

/* Prints the usage report of this process, as at its end, to a file descriptor. format is "text" or "json".
 * Returns 0, or -1 with errno EINVAL (unknown format) or that of write. */
GRANARY_API int granary_report(int fd, const char *format);

#ifdef __cplusplus
}
#endif

#endif
