/* operator new and delete of C++, in C: their symbols are all that matters. libstdc++ is not needed; what the standard
 * asks of new (the new-handler, std::bad_alloc) is found in the program's C++ library, which a program that can
 * catch the exception has. */
#include "core.h"

#include <dlfcn.h>
#include <errno.h>

typedef void (*new_handler)(void);

/* Weak: bound when the program has a C++ library, 0 otherwise. */
extern new_handler std_get_new_handler(void) __asm__("_ZSt15get_new_handlerv") __attribute__((weak));
extern void std_throw_bad_alloc(void) __asm__("_ZSt17__throw_bad_allocv") __attribute__((weak, noreturn));

/* handler.c */
void *granary_call_nothrow(void *(*call)(uintptr_t, uintptr_t), uintptr_t first, uintptr_t second);

static new_handler current_handler(void)
{
    new_handler (*get)(void) = std_get_new_handler;
    if (get == NULL) /* the C++ library came in by dlopen after us */
        get = (new_handler(*)(void))dlsym(RTLD_DEFAULT, "_ZSt15get_new_handlerv");
    return get != NULL ? get() : NULL;
}

static _Noreturn void throw_bad_alloc(size_t size)
{
    void (*raise)(void) = std_throw_bad_alloc;
    if (raise == NULL)
        raise = (void (*)(void))dlsym(RTLD_DEFAULT, "_ZSt17__throw_bad_allocv");
    if (raise != NULL)
        raise();
    granary_fatal("granary: operator new(%zu): out of memory, and no C++ library is loaded to throw "
                  "std::bad_alloc\n", size);
}

__attribute__((noinline)) static void *allocate_aligned(size_t size, size_t alignment)
{
    return core_aligned_alloc(alignment, size);
}

static inline void *allocate(size_t size, size_t alignment)
{
    return alignment <= 16 ? core_malloc(size) : allocate_aligned(size, alignment);
}

COLD static void *new_slow(size_t size, size_t alignment)
{
    for (;;) {
        new_handler handler = current_handler();
        if (handler == NULL)
            throw_bad_alloc(size);
        handler();
        void *block = allocate(size, alignment);
        if (block != NULL)
            return block;
    }
}

static void *run_handler(uintptr_t handler, uintptr_t unused)
{
    (void)unused;
    ((new_handler)handler)();
    return (void *)current_handler; /* anything but NULL */
}

COLD static void *new_nothrow_slow(size_t size, size_t alignment)
{
    for (;;) {
        new_handler handler = current_handler();
        if (handler == NULL || granary_call_nothrow(run_handler, (uintptr_t)handler, 0) == NULL)
            return NULL;
        void *block = allocate(size, alignment);
        if (block != NULL)
            return block;
    }
}

COLD static void *new_unready(size_t size)
{
    void *block = core_malloc_slow(size);
    return LIKELY(block != NULL) ? block : new_slow(size, 0);
}

/* Where no block is at hand one function does all that is left, so that this one needs no frame. */
static inline void *new(size_t size)
{
    void *block = core_try_malloc(size);
    return LIKELY(block != NULL) ? block : new_unready(size);
}

static inline void *new_nothrow(size_t size)
{
    void *block = core_malloc(size);
    return LIKELY(block != NULL) ? block : new_nothrow_slow(size, 0);
}

static inline void *new_aligned(size_t size, size_t alignment)
{
    void *block = allocate(size, alignment);
    return LIKELY(block != NULL) ? block : new_slow(size, alignment);
}

static inline void *new_aligned_nothrow(size_t size, size_t alignment)
{
    void *block = allocate(size, alignment);
    return LIKELY(block != NULL) ? block : new_nothrow_slow(size, alignment);
}

COLD static void delete_checked(void *block, size_t size)
{
    granary_guard_check_size(block, size);
    core_free(block);
}

static inline void delete_sized(void *block, size_t size)
{
    if (UNLIKELY(granary_options.guard))
        delete_checked(block, size);
    else
        core_free(block);
}

/* A program may replace any of the forms. The standard says which form each of the others then calls: the array forms
 * the plain ones, those with nothrow or a size the ones without. A program that replaces the two plain forms only (the
 * usual case) gets every block through them that way. */
#define DEFINE(result, symbol, parameters, body)                                                                  \
    EXPORT result symbol parameters;                                                                              \
    EXPORT FLATTEN result symbol parameters { body; }

/* The same for a form that others call. shown_SYMBOL is the one that the program has; volatile, since the loader may
 * set it to a function that the compiler does not see. */
#define DEFINE_CALLED(result, symbol, parameters, body)                                                           \
    DEFINE(result, symbol, parameters, body)                                                                      \
    extern __typeof(symbol) granary_own##symbol __attribute__((alias(#symbol), visibility("hidden")));            \
    static __typeof(symbol) *const volatile shown##symbol = symbol;

/* Returns from the function through the program's form, if it has one. */
#define PASS_ON(symbol, ...)                                                                                      \
    __typeof(symbol) *const shown##symbol##_now = shown##symbol;                                                  \
    if (UNLIKELY(shown##symbol##_now != granary_own##symbol))                                                     \
    return shown##symbol##_now(__VA_ARGS__)
#define PASS_ON_NOTHROW(symbol, first, second)                                                                    \
    if (UNLIKELY(shown##symbol != granary_own##symbol))                                                           \
    return granary_call_nothrow((void *)shown##symbol, first, second)

DEFINE_CALLED(void *, _Znwm, (size_t size), return new (size))
DEFINE_CALLED(void *, _Znam, (size_t size), PASS_ON(_Znwm, size); return new (size))
DEFINE_CALLED(void *, _ZnwmSt11align_val_t, (size_t size, size_t a), return new_aligned(size, a))
DEFINE_CALLED(void *, _ZnamSt11align_val_t, (size_t size, size_t a), PASS_ON(_ZnwmSt11align_val_t, size, a);
              return new_aligned(size, a))

DEFINE(void *, _ZnwmRKSt9nothrow_t, (size_t size, void *n), (void)n; PASS_ON_NOTHROW(_Znwm, size, 0);
       return new_nothrow(size))
DEFINE(void *, _ZnamRKSt9nothrow_t, (size_t size, void *n), (void)n; PASS_ON_NOTHROW(_Znam, size, 0);
       PASS_ON_NOTHROW(_Znwm, size, 0); return new_nothrow(size))
DEFINE(void *, _ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t a, void *n), (void)n;
       PASS_ON_NOTHROW(_ZnwmSt11align_val_t, size, a); return new_aligned_nothrow(size, a))
DEFINE(void *, _ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t a, void *n), (void)n;
       PASS_ON_NOTHROW(_ZnamSt11align_val_t, size, a); PASS_ON_NOTHROW(_ZnwmSt11align_val_t, size, a);
       return new_aligned_nothrow(size, a))

DEFINE_CALLED(void, _ZdlPv, (void *block), core_free(block))
DEFINE_CALLED(void, _ZdaPv, (void *block), PASS_ON(_ZdlPv, block); core_free(block))
DEFINE_CALLED(void, _ZdlPvSt11align_val_t, (void *block, size_t a), (void)a; core_free(block))
DEFINE_CALLED(void, _ZdaPvSt11align_val_t, (void *block, size_t a), PASS_ON(_ZdlPvSt11align_val_t, block, a);
              core_free(block))

DEFINE(void, _ZdlPvRKSt9nothrow_t, (void *block, void *n), (void)n; PASS_ON(_ZdlPv, block); core_free(block))
DEFINE(void, _ZdaPvRKSt9nothrow_t, (void *block, void *n), (void)n; PASS_ON(_ZdaPv, block); PASS_ON(_ZdlPv, block);
       core_free(block))
DEFINE(void, _ZdlPvm, (void *block, size_t size), PASS_ON(_ZdlPv, block); delete_sized(block, size))
DEFINE(void, _ZdaPvm, (void *block, size_t size), PASS_ON(_ZdaPv, block); PASS_ON(_ZdlPv, block);
       delete_sized(block, size))
DEFINE(void, _ZdlPvmRKSt9nothrow_t, (void *block, size_t size, void *n), (void)n; PASS_ON(_ZdlPv, block);
       delete_sized(block, size))
DEFINE(void, _ZdaPvmRKSt9nothrow_t, (void *block, size_t size, void *n), (void)n; PASS_ON(_ZdaPv, block);
       PASS_ON(_ZdlPv, block); delete_sized(block, size))
DEFINE(void, _ZdlPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t a, void *n), (void)n;
       PASS_ON(_ZdlPvSt11align_val_t, block, a); core_free(block))
DEFINE(void, _ZdaPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t a, void *n), (void)n;
       PASS_ON(_ZdaPvSt11align_val_t, block, a); PASS_ON(_ZdlPvSt11align_val_t, block, a); core_free(block))
DEFINE(void, _ZdlPvmSt11align_val_t, (void *block, size_t size, size_t a), PASS_ON(_ZdlPvSt11align_val_t, block, a);
       delete_sized(block, size))
DEFINE(void, _ZdaPvmSt11align_val_t, (void *block, size_t size, size_t a), PASS_ON(_ZdaPvSt11align_val_t, block, a);
       PASS_ON(_ZdlPvSt11align_val_t, block, a); delete_sized(block, size))
