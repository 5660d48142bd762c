// The library's own declarations are those of bdwgc's headers.
// library: gc
// cflags: -Wno-deprecated-declarations
#define GC_THREADS 1
#define GC_NO_THREAD_REDIRECTS 1
#include <gc.h>
#include <gc/gc_disclaim.h>
#include <gc/gc_gcj.h>
#include <gc/gc_inline.h>
#include <gc/gc_mark.h>
#include <gc/gc_typed.h>
#include <gc/javaxfc.h>

#define GC_H
#include "../../gc/api.h"

int main(void) { return GC_get_version() >> 16 != 8; }
