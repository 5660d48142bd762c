// Checked objects: what they are, an overrun found, freed twice, finalizers that get the program's address.
// library: gc
// only: granary
// expect: ^granary: GC_debug_free: {ptr}: something was written behind the object, at {ptr} \(.* at over.c:12, 30 bytes\)
// expect: ^granary: GC_debug_free: {ptr} was freed before \(allocated at twice.c:34\)
// expect: ^granary: GC_debug_free: {ptr} is not a checked object
#include "check.h"

static int finalized;

static void finalize(void *object, void *data)
{
    CHECK(data == &finalized && *(long *)object == 4711);
    finalized++;
}

static void make(void *unused)
{
    (void)unused;
    for (int i = 0; i < 20; i++) {
        long *object = GC_debug_malloc(50, "final.c", 1);
        *object = 4711;
        GC_finalization_proc old;
        void *old_data;
        GC_debug_register_finalizer_ignore_self(object, finalize, &finalized, NULL, NULL);
        GC_debug_register_finalizer_ignore_self(object, finalize, &finalized, &old, &old_data);
        CHECK(old == finalize && old_data == &finalized);
    }
}

int main(void)
{
    GC_INIT();
    CHECK(GC_get_debug_header_size() == 32);
    char *object = GC_debug_malloc(30, "over.c", 12);
    CHECK(GC_base(object) == object - 32);
    for (int i = 0; i < 30; i++)
        CHECK(object[i] == 0);
    for (int i = 0; i < 33; i++)
        object[i] = 1;
    GC_debug_free(object);
    char *twice = GC_debug_malloc_atomic(10, "twice.c", 34);
    GC_debug_free(twice);
    GC_debug_free(twice);
    char *grown = GC_debug_realloc(GC_debug_strdup("abc", "s.c", 1), 1000, "r.c", 2);
    CHECK(strcmp(grown, "abc") == 0);
    GC_debug_free(grown + 8);
    void *root = GC_debug_malloc_uncollectable(100, "u.c", 1);
    GC_debug_free(root);
    far_below(make, NULL);
    wipe_stack();
    GC_gcollect();
    GC_gcollect();
    CHECK(finalized >= 18);
    return 0;
}
