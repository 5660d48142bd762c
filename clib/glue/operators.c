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

/* handler.c: calls the handler; true if it threw, and the exception is dealt with. */
bool granary_call_handler_nothrow(new_handler handler);

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

static void *allocate(size_t size, size_t alignment)
{
    return alignment <= 16 ? core_malloc(size) : core_aligned_alloc(alignment, size);
}

__attribute__((noinline, cold)) static void *new_slow(size_t size, size_t alignment)
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

__attribute__((noinline, cold)) static void *new_nothrow_slow(size_t size, size_t alignment)
{
    for (;;) {
        new_handler handler = current_handler();
        if (handler == NULL || granary_call_handler_nothrow(handler))
            return NULL;
        void *block = allocate(size, alignment);
        if (block != NULL)
            return block;
    }
}

uintptr_t granary_new_slow(uintptr_t size);

/* Called by the core when new finds no block at hand. */
uintptr_t granary_new_slow(uintptr_t size)
{
    void *block = core_malloc(size);
    return (uintptr_t)(LIKELY(block != NULL) ? block : new_slow(size, 0));
}

static inline void *new(size_t size) { return (void *)core_new_address(size); }

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

static inline void delete_sized(void *block, size_t size)
{
    if (UNLIKELY(granary_options.guard))
        granary_guard_check_size(block, size);
    core_free(block);
}

#define DEFINE(result, symbol, parameters, body)                                                                  \
    EXPORT result symbol parameters;                                                                              \
    EXPORT FLATTEN result symbol parameters { body; }

DEFINE(void *, _Znwm, (size_t size), return new (size))
DEFINE(void *, _Znam, (size_t size), return new (size))
DEFINE(void *, _ZnwmRKSt9nothrow_t, (size_t size, void *n), (void)n; return new_nothrow(size))
DEFINE(void *, _ZnamRKSt9nothrow_t, (size_t size, void *n), (void)n; return new_nothrow(size))
DEFINE(void *, _ZnwmSt11align_val_t, (size_t size, size_t a), return new_aligned(size, a))
DEFINE(void *, _ZnamSt11align_val_t, (size_t size, size_t a), return new_aligned(size, a))
DEFINE(void *, _ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t a, void *n), (void)n;
       return new_aligned_nothrow(size, a))
DEFINE(void *, _ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t a, void *n), (void)n;
       return new_aligned_nothrow(size, a))

DEFINE(void, _ZdlPv, (void *block), core_free(block))
DEFINE(void, _ZdaPv, (void *block), core_free(block))
DEFINE(void, _ZdlPvRKSt9nothrow_t, (void *block, void *n), (void)n; core_free(block))
DEFINE(void, _ZdaPvRKSt9nothrow_t, (void *block, void *n), (void)n; core_free(block))
DEFINE(void, _ZdlPvm, (void *block, size_t size), delete_sized(block, size))
DEFINE(void, _ZdaPvm, (void *block, size_t size), delete_sized(block, size))
DEFINE(void, _ZdlPvmRKSt9nothrow_t, (void *block, size_t size, void *n), (void)n; delete_sized(block, size))
DEFINE(void, _ZdaPvmRKSt9nothrow_t, (void *block, size_t size, void *n), (void)n; delete_sized(block, size))
DEFINE(void, _ZdlPvSt11align_val_t, (void *block, size_t a), (void)a; core_free(block))
DEFINE(void, _ZdaPvSt11align_val_t, (void *block, size_t a), (void)a; core_free(block))
DEFINE(void, _ZdlPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t a, void *n), (void)a; (void)n;
       core_free(block))
DEFINE(void, _ZdaPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t a, void *n), (void)a; (void)n;
       core_free(block))
DEFINE(void, _ZdlPvmSt11align_val_t, (void *block, size_t size, size_t a), (void)a; delete_sized(block, size))
DEFINE(void, _ZdaPvmSt11align_val_t, (void *block, size_t size, size_t a), (void)a; delete_sized(block, size))
