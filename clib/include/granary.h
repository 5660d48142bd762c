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
 * from a signal handler. Who may use the fields of an object while another thread deletes it is for the program to
 * say. */
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
 * over all types, never given again. 0 for Null, and if there is no memory to remember it. from_handle is 0 for a
 * number that is unknown, or that of a deleted object or of one of another type. */
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

/* ---- linear allocators: memory that lives a few frames -------------------------------------------------
 *
 * An allocation is the next bytes of a block that the thread has for itself; blocks come from a pool of at most 64. A
 * block all of whose allocations have been freed, by whatever threads, goes back to the pool; memory goes back to the
 * heap with granary_linear_destroy. What the pool cannot serve the heap does, and is freed in the same way. A program
 * can have 256 allocators at one time. docs/design/linear.md says more. */

typedef struct granary_linear granary_linear;

#define GRANARY_LINEAR_BLOCK_MOST ((size_t)1 << 30)
#define GRANARY_LINEAR_ALIGN_MOST ((size_t)65536)

/* 0 stands for the default of every field. */
typedef struct granary_linear_config {
    const char *name;     /* in reports, of at most 63 characters; copied */
    size_t block_bytes;   /* rounded up to a power of two of at least 64 KiB; 2 MiB */
    uint32_t blocks;      /* most blocks, up to 64; 64 */
    uint32_t growth;      /* how many times its size a block may become for one large request, up to 8; 8 */
    uint32_t max_age;     /* frames an allocation may live before it is reported; any number */
    uint32_t diagnose;    /* 1: follow every allocation, as GRANARY_DEBUG_ALLOC=1 does: a second free and a foreign
                             pointer are always found, and what is too old is printed with its stack */
} granary_linear_config;

/* bytes is sizeof(granary_linear_config) of the caller; NULL and 0 are the defaults. NULL with errno EINVAL for values
 * out of bounds, ENOMEM without memory or with 256 allocators. */
GRANARY_API granary_linear *granary_linear_create(const granary_linear_config *config, size_t bytes);

/* Gives all memory back; nobody may use the allocator or what it handed out any more. NULL is none. 0, or -1 with errno
 * EBUSY while stacks of it are open. */
GRANARY_API int granary_linear_destroy(granary_linear *linear);

/* size bytes at a multiple of align, a power of two up to 64 KiB or 0; at least 16. 0 bytes have an address of their
 * own. NULL with errno EINVAL for another alignment, ENOMEM if neither the pool nor the heap has memory. */
GRANARY_API void *granary_linear_alloc(granary_linear *linear, size_t size, size_t align);
GRANARY_API void *granary_linear_alloc_zeroed(granary_linear *linear, size_t size, size_t align);

/* Takes an allocation back, whichever thread made it. NULL is none. 0, or -1 with errno EINVAL, and nothing is changed,
 * for a pointer that is no allocation or was freed before, where that is known: always when diagnosing. */
GRANARY_API int granary_linear_free(granary_linear *linear, void *block);

/* Frees all allocations at once. Nobody else may use the allocator meanwhile. */
GRANARY_API void granary_linear_reset(granary_linear *linear);

/* Begins another frame and returns its number. The first time that something becomes older than max_age a line on
 * stderr says so; when diagnosing, the first time for each place that made it, with the stack. */
GRANARY_API uint32_t granary_linear_next_frame(granary_linear *linear);

/* Counts are since the allocator was made unless they say 'now'. */
typedef struct granary_linear_stats {
    uint64_t block_bytes;         /* as rounded up */
    uint64_t request_most_bytes;  /* of the largest block */
    uint64_t blocks_most;
    uint64_t blocks_used;         /* now */
    uint64_t blocks_peak;         /* most at one time */
    uint64_t reserved_bytes;      /* of all blocks; they are kept, so this is the peak */
    uint64_t reserved_most_bytes; /* what it can be at most */
    uint64_t live;                /* allocations in blocks now */
    uint64_t overflows_live;      /* and on the heap */
    uint64_t full;                /* requests that found no block */
    uint64_t too_large;           /* requests larger than a block can be */
    uint64_t overdue;             /* allocations that became older than max_age */
    uint64_t late;                /* those of them that were freed */
    uint64_t misuses;             /* frees that were refused */
    uint64_t frame;
} granary_linear_stats;

/* Fills *stats up to bytes, sizeof(granary_linear_stats) of the caller. 0, or -1 with errno EINVAL. */
GRANARY_API int granary_linear_get_stats(granary_linear *linear, granary_linear_stats *stats, size_t bytes);

/* A stack of one thread, for memory shorter than a frame: what was allocated after a mark goes with the rewind to it.
 * It holds twice its first size; the rest comes from the linear allocator, whose frames it counts. */
typedef struct granary_stack granary_stack;

#define GRANARY_STACK_MOST ((size_t)1 << 30)
#define GRANARY_STACK_BINS 32

typedef struct granary_stack_mark {
    uintptr_t position;
    uint64_t serial;
} granary_stack_mark;

/* bytes, the first size, is rounded up to 4 KiB. NULL with errno EINVAL or ENOMEM. */
GRANARY_API granary_stack *granary_stack_create(granary_linear *linear, const char *name, size_t bytes);
GRANARY_API void granary_stack_destroy(granary_stack *stack);

/* As granary_linear_alloc. */
GRANARY_API void *granary_stack_alloc(granary_stack *stack, size_t size, size_t align);

/* Where the stack is now, and back to there. -1 with errno EINVAL if it is no mark, or was passed by a rewind. */
GRANARY_API granary_stack_mark granary_stack_get_mark(granary_stack *stack);
GRANARY_API int granary_stack_rewind(granary_stack *stack, granary_stack_mark mark);

typedef struct granary_stack_stats {
    uint64_t initial_bytes;
    uint64_t current_bytes; /* what it has grown to, 4 KiB at a time */
    uint64_t peak_bytes;
    uint64_t used_bytes;    /* now */
    uint64_t overflows;     /* requests that the stack had no room for */
    uint64_t held;          /* frames at whose end something was not rewound */
    uint64_t frames[GRANARY_STACK_BINS]; /* frames by their peak: below 1 KiB, then from 2^(n+9) to 2^(n+10) */
} granary_stack_stats;

GRANARY_API int granary_stack_get_stats(granary_stack *stack, granary_stack_stats *stats, size_t bytes);

/* Prints the usage report of an allocator, and of stacks of it, to a file descriptor: in the format of Unity's reports,
 * which granary report and granary compare read. 0, or -1 with errno EINVAL or that of write. */
GRANARY_API int granary_linear_report(granary_linear *linear, granary_stack *const *stacks, size_t count, int fd);

/* ---- the same without a call ----
 *
 * For loops that allocate more than they do anything else: what fits is served in the caller, the rest by the function
 * of the same name. A thread asks once for its worker of an allocator. The worker is good for that thread until it ends
 * or the allocator is destroyed. What these structures hold is read and written by the inline functions alone; it is
 * part of the binary interface. */

typedef struct granary_linear_worker {
    uintptr_t next, end, start;
    int64_t live;
    uintptr_t reserved;
    uint32_t key;
} granary_linear_worker;

struct granary_linear_head {
    uint64_t reserved[5];
    uint32_t frame;
};

struct granary_stack_head {
    uintptr_t next, end;
};

/* Never NULL: a thread for which there is no memory gets a worker that serves nothing, and all goes by the calls. */
GRANARY_API granary_linear_worker *granary_linear_get_worker(granary_linear *linear);

static inline size_t granary_linear_need(size_t size) { return (size + 15) & ~(size_t)15; }

static inline uint32_t granary_linear_frame(const granary_linear *linear)
{
    return __atomic_load_n(&((const struct granary_linear_head *)linear)->frame, __ATOMIC_RELAXED);
}

/* As granary_linear_alloc with an alignment of 16. worker is this thread's. */
static inline void *granary_linear_alloc_inline(granary_linear *linear, granary_linear_worker *worker, size_t size)
{
    size_t need = granary_linear_need(size);
    uintptr_t at = worker->next;
    if (__builtin_expect(worker->key == granary_linear_frame(linear) && need - 1 < worker->end - at, 1)) {
        __atomic_store_n(&worker->live, worker->live + 1, __ATOMIC_RELAXED);
        __atomic_store_n(&worker->next, at + need, __ATOMIC_RELAXED);
        return (void *)at;
    }
    return granary_linear_alloc(linear, size, 0);
}

/* As granary_linear_free. worker is this thread's, whoever made the block. */
static inline int granary_linear_free_inline(granary_linear *linear, granary_linear_worker *worker, void *block)
{
    if (__builtin_expect((uintptr_t)block - worker->start < worker->next - worker->start && worker->live != 1
                             && worker->key == granary_linear_frame(linear), 1)) {
        __atomic_store_n(&worker->live, worker->live - 1, __ATOMIC_RELAXED);
        return 0;
    }
    return granary_linear_free(linear, block);
}

/* As granary_stack_alloc with an alignment of 16. */
static inline void *granary_stack_alloc_inline(granary_stack *stack, size_t size)
{
    struct granary_stack_head *head = (struct granary_stack_head *)stack;
    size_t need = granary_linear_need(size);
    uintptr_t at = head->next;
    if (__builtin_expect(need - 1 < head->end - at, 1)) {
        head->next = at + need;
        return (void *)at;
    }
    return granary_stack_alloc(stack, size, 0);
}

#ifdef __cplusplus
}
#endif

#endif
