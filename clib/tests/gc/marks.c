// The objects that a collection has found can be enumerated: all that are reachable, and hardly any other.
// library: gc
#include "check.h"

enum { KEPT = 3000, LOST = 3000 };

static void **volatile kept;
static int found[KEPT];
static size_t others;

static void *magic = (void *)0x5eed;

static void make(void *unused)
{
    (void)unused;
    kept = GC_malloc_uncollectable(KEPT * sizeof *kept);
    for (long i = 0; i < KEPT; i++) {
        void **object = kept[i] = GC_malloc(i % 10 == 0 ? 5000 : 64);
        object[0] = magic;
        object[1] = (void *)(2 * i + 1);
    }
    for (long i = 0; i < LOST; i++)
        *(void **)GC_malloc(64) = magic;
}

static void look(void *object, size_t bytes, void *data)
{
    CHECK(data == &found);
    void **words = object;
    if (bytes < 64 || words[0] != magic)
        return;
    long number = (long)words[1] / 2;
    if (number >= 0 && number < KEPT && words == kept[number])
        found[number]++;
    else
        others++;
}

static void *enumerate(void *data)
{
    GC_enumerate_reachable_objects_inner(look, data);
    return NULL;
}

int main(void)
{
    GC_INIT();
    far_below(make, NULL);
    wipe_stack();
    GC_gcollect();
    GC_call_with_alloc_lock(enumerate, &found);
    for (int i = 0; i < KEPT; i++)
        CHECK(found[i] == 1);
    CHECK(others < LOST / 10);
    return 0;
}
