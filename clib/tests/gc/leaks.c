// Find-leak mode reports what was not freed and cannot be reached, once, with its size and where it comes from.
// library: gc
// env: GC_FIND_LEAK=1
// only: granary
// expect: ^granary: leaked composite object at {ptr}, 112 bytes$
// expect: ^granary: leaked number of 42 object at {ptr}, 64 bytes$
// expect: ^granary: leaked pointer-free object at {ptr}, \d+ bytes, allocated at here.c:77, 50 bytes asked for
// refuse: 512 bytes
#include "check.h"

static void *volatile kept;

static void make(void *unused)
{
    (void)unused;
    kept = GC_malloc(500);
    for (int i = 0; i < 1000; i++)
        GC_free(GC_malloc(500));
    GC_malloc(100);
}

static void make_checked(void *unused)
{
    (void)unused;
    GC_debug_malloc_atomic(50, "here.c", 77);
}

static void GC_CALLBACK describe(void *object, char *text) { sprintf(text, "number of %d", *(int *)object); }

static void make_described(void *unused)
{
    (void)unused;
    unsigned kind = GC_new_kind(GC_new_free_list(), 0, 0, 1);
    GC_register_describe_type_fn((int)kind, describe);
    volatile int *object = GC_generic_malloc(60, (int)kind);
    *object = 42;
}

int main(void)
{
    GC_INIT();
    far_below(make, NULL);
    wipe_stack();
    GC_gcollect();
    far_below(make_described, NULL);
    wipe_stack();
    GC_gcollect();
    far_below(make_checked, NULL);
    wipe_stack();
    GC_gcollect();
    GC_gcollect();
    return 0;
}
