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

/* ---- objects whose references cannot dangle ----------------------------------------------------------- */

/* Objects of a type are kept in a list. Deleting one makes every reference to it read as Null. The rules, for runtimes
 * of languages that have such objects and for programs that want them: docs/design/object.md.
 *
 * A reference is a number: 0 is Null, and one to a deleted object reads as Null for ever. All functions take any
 * number. A variable (granary_var) is a reference that is counted: while it holds a deleted object, that keeps its
 * place in the list, and its memory is not used for another one. Set variables with granary_object_set only, and let
 * go of them with granary_object_clear; those in the fields of an object let go when it is deleted.
 *
 * All functions may be called from any thread at any time, but for types with GRANARY_OBJECT_SINGLE_OWNER, and not
 * from a signal handler. Who may use the fields of an object while another thread deletes it is the program's to say. */
typedef uint64_t granary_ref;
typedef struct granary_var {
    granary_ref ref;
} granary_var;
typedef struct granary_object_type granary_object_type;

/* Where in the fields of an object there is something to let go of when it is deleted. */
#define GRANARY_OBJECT_VAR 1   /* a granary_var */
#define GRANARY_OBJECT_BLOCK 2 /* a pointer to a block of granary_malloc, or NULL: strings */
#define GRANARY_OBJECT_ARRAY 3 /* such a pointer, and behind it a size_t: the number of elements in the block */

typedef struct granary_object_field {
    size_t offset;       /* bytes, a multiple of 8 */
    uint32_t kind;       /* GRANARY_OBJECT_... */
    uint32_t count;      /* how many side by side, as in an array in the object; 0 is 1 */
    size_t stride;       /* bytes from one to the next, 0: without space between */
    size_t element_bytes; /* GRANARY_OBJECT_ARRAY whose elements hold something: bytes of one, and what it holds */
    const struct granary_object_field *element_fields;
    size_t element_field_count;
} granary_object_field;

/* Flags of a type. */
#define GRANARY_OBJECT_SINGLE_OWNER 1 /* one thread at a time calls for this type: faster, as it takes no lock */

/* Makes a type whose objects have so many bytes, at most 1 GiB, and so many fields that hold something, in the order of
 * their offsets. The name (127 bytes of it) is for messages. Objects lie at multiples of 8, or of 16 if bytes is such
 * a multiple. A type is never taken back. NULL with errno EINVAL if a field is not inside of the object or not aligned,
 * or overlaps the one before; ENOMEM if there is no memory. */
GRANARY_API granary_object_type *granary_object_type_new(const char *name, size_t bytes,
                                                         const granary_object_field *fields, size_t field_count,
                                                         unsigned flags);
GRANARY_API const char *granary_object_type_name(const granary_object_type *type);

/* The type of an object, NULL for Null. */
GRANARY_API granary_object_type *granary_object_type_of(granary_ref ref);

/* Makes an object: all bytes zero, the last of the type's list. 0 with errno ENOMEM if there is no memory. */
GRANARY_API granary_ref granary_object_new(granary_object_type *type);

/* The object's fields, good to use until it is deleted; NULL for Null. */
GRANARY_API void *granary_object_get(granary_ref ref);

/* The same, but for Null the program is stopped with a message: "Object does not exist." and, with
 * GRANARY_DEBUG_ALLOC=1, where it was made and deleted, if it is one of the last 65536 of its type. */
GRANARY_API void *granary_object_must(granary_ref ref);

/* Deletes the object, in this order: references to it become Null; its fields let go; its handle is forgotten; the list
 * lets go. *ref becomes 0. Nothing happens if it is Null. delete_var also lets go of the variable. */
GRANARY_API void granary_object_delete(granary_ref *ref);
GRANARY_API void granary_object_delete_var(granary_var *variable);

/* Deletes every object of a type, in the order of the list. Returns how many that were. */
GRANARY_API size_t granary_object_delete_each(granary_object_type *type);

/* Counted variables. set counts the new object before it lets go of the old one; a reference to an object whose memory
 * was given back already makes it 0. */
GRANARY_API void granary_object_set(granary_var *variable, granary_ref ref);
GRANARY_API void granary_object_clear(granary_var *variable);

/* 1 or 0. Deleted objects are Null, and so equal to each other. */
GRANARY_API int granary_object_is_null(granary_ref ref);
GRANARY_API int granary_object_equal(granary_ref a, granary_ref b);

/* The list. after and before go on from the old place of a deleted object that a variable still holds. 0 at the end. */
GRANARY_API granary_ref granary_object_first(granary_object_type *type);
GRANARY_API granary_ref granary_object_last(granary_object_type *type);
GRANARY_API granary_ref granary_object_after(granary_ref ref);
GRANARY_API granary_ref granary_object_before(granary_ref ref);

/* Moves an object to the place right after, or before, another one of its type. 0, or -1 with errno EINVAL if one of
 * them has no place in a list, or they are of two types. */
GRANARY_API int granary_object_insert_after(granary_ref ref, granary_ref to);
GRANARY_API int granary_object_insert_before(granary_ref ref, granary_ref to);

/* Iteration in the order of the list. The object at hand is held, so that it, and any other, may be deleted in the
 * body; objects made in the body are visited. Who leaves early calls granary_object_stop.
 *
 *   for (granary_ref r = granary_object_start(t); r != 0; r = granary_object_next(t, r)) { ... } */
GRANARY_API granary_ref granary_object_start(granary_object_type *type);
GRANARY_API granary_ref granary_object_next(granary_object_type *type, granary_ref current);
GRANARY_API void granary_object_stop(granary_object_type *type, granary_ref current);

/* The number of an object, for languages that keep one in an integer: given when it is first asked for, counted from 1
 * over all types, never given again. 0 for Null, and if there is no memory to remember it. from_handle is 0 for a number
 * that is unknown, or that of a deleted object or of one of another type. */
GRANARY_API int64_t granary_object_handle(granary_ref ref);
GRANARY_API granary_ref granary_object_from_handle(granary_object_type *type, int64_t handle);

typedef struct granary_object_stats {
    uint64_t alive;      /* objects */
    uint64_t unreleased; /* deleted, but variables still hold them */
    uint64_t made;       /* objects made in all */
    uint64_t slots;      /* objects that there was memory for at one time */
    uint64_t free;       /* of those, what the next objects get */
    uint64_t retired;    /* of those, used up: a slot serves two thousand million objects */
    uint64_t bytes;      /* of the heap now, for the fields */
} granary_object_stats;

/* Fills *stats. bytes is sizeof(granary_object_stats) of the caller. 0, or -1 with errno EINVAL. */
GRANARY_API int granary_object_get_stats(granary_object_type *type, granary_object_stats *stats, size_t bytes);

/* Gives memory back that is of deleted objects only, and returns how many bytes that were. */
GRANARY_API size_t granary_object_trim(granary_object_type *type);

/* Prints to stderr what was not deleted, by type and, with GRANARY_DEBUG_ALLOC=1, by the place where it was made; with
 * that it is printed at the end of the process as well. Returns the number of objects. */
GRANARY_API size_t granary_object_report(void);

#ifdef __cplusplus
}
#endif

#endif
