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

/* Type descriptors refer to these by function descriptors, which are variables that hold a function's address. Nothing
 * of the core compares values through them; the archive, which keeps all sections, must define them. */
static bool never_equal(const void *a, const void *b)
{
    (void)a;
    (void)b;
    granary_fatal("granary: BUG: the core compares values through a type descriptor\n");
}

#define GO_DESCRIPTOR(name, symbol)                                                                               \
    bool (*const name)(const void *, const void *) __asm__(symbol) = never_equal

GO_DESCRIPTOR(go_memequal0_f, "runtime.memequal0..f");
GO_DESCRIPTOR(go_memequal8_f, "runtime.memequal8..f");
GO_DESCRIPTOR(go_memequal16_f, "runtime.memequal16..f");
GO_DESCRIPTOR(go_memequal32_f, "runtime.memequal32..f");
GO_DESCRIPTOR(go_memequal64_f, "runtime.memequal64..f");
GO_DESCRIPTOR(go_memequal128_f, "runtime.memequal128..f");
GO_DESCRIPTOR(go_strequal_f, "runtime.strequal..f");
GO_DESCRIPTOR(go_f32equal_f, "runtime.f32equal..f");
GO_DESCRIPTOR(go_f64equal_f, "runtime.f64equal..f");

/* The descriptor of unsafe.Pointer, of which only the address is ever taken. */
const char go_unsafe_pointer_d[8] __asm__("unsafe.Pointer..d") = {0};
