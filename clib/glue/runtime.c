/* The symbols of a Go runtime that gccgo's code refers to although nothing in the core needs a runtime. */
#include "core.h"

#include <string.h>

#define GO_PANIC(symbol)                                                                                          \
    _Noreturn void symbol(long index, long length) __asm__("runtime." #symbol);                                   \
    _Noreturn void symbol(long index, long length)                                                                \
    {                                                                                                             \
        granary_fatal("granary: BUG: index %ld out of range %ld in the core", index, length);                     \
    }

GO_PANIC(goPanicIndex)
GO_PANIC(goPanicIndexU)
GO_PANIC(goPanicSliceAlen)
GO_PANIC(goPanicSliceB)

_Noreturn void go_panicdivide(void) __asm__("runtime.panicdivide");
_Noreturn void go_panicdivide(void) { granary_fatal("granary: BUG: division by zero in the core"); }

_Noreturn void go_panicmem(void) __asm__("runtime.panicmem");
_Noreturn void go_panicmem(void) { granary_fatal("granary: BUG: nil pointer in the core"); }

bool go_memequal(const void *a, const void *b, size_t bytes) __asm__("runtime.memequal");
bool go_memequal(const void *a, const void *b, size_t bytes) { return memcmp(a, b, bytes) == 0; }
