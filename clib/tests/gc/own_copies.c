// A program that is not position-independent has copies of the library's variables: both mean the same.
// library: gc
// cflags: -no-pie -fno-pie -fno-PIC
#include "check.h"

int main(void)
{
    GC_all_interior_pointers = 0;
    GC_dont_precollect = 1;
    GC_INIT();
    CHECK(GC_get_all_interior_pointers() == 0);
    CHECK(GC_size(GC_malloc(16)) == 16 && GC_size(GC_malloc(4096)) == 4096);
    GC_word before = GC_gc_no;
    GC_gcollect();
    CHECK(GC_gc_no == before + 1 && GC_get_gc_no() == GC_gc_no);
    char *object = GC_malloc(100);
    CHECK((char *)GC_least_plausible_heap_addr <= object && object <= (char *)GC_greatest_plausible_heap_addr);
    GC_dont_gc = 1;
    before = GC_gc_no;
    GC_gcollect();
    CHECK(GC_gc_no == before && GC_is_disabled());
    return 0;
}
