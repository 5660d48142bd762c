/* weak_objects: 150,000 live objects with a weak link each, two million that come and go, every fourth of them with a
 * finalizer. */
#include "collector.h"

struct object {
    uint64_t value;
    struct object *other;
};

struct weak {
    void *hidden; /* the complement of the address, as the interface wants it */
};

static uint64_t finalized;

static void finalize(void *object, void *data)
{
    (void)data;
    finalized += ((struct object *)object)->value % 4 == 0;
}

int main(int argc, char **argv)
{
    collector_start(argc, argv);
    long live = scaled(150000, 500), total = scaled(2000000, 2000);
    struct object **strong = need(GC_MALLOC((size_t)live * sizeof *strong));
    struct weak *weak = need(GC_MALLOC_ATOMIC((size_t)live * sizeof *weak));
    memset(weak, 0, (size_t)live * sizeof *weak);
    uint64_t seed = 3, checksum = 0;
    for (long i = 0; i < total; i++) {
        struct object *object = need(GC_MALLOC(sizeof *object));
        object->value = (uint64_t)i;
        long slot = i < live ? i : random_below(&seed, (uint32_t)live);
        object->other = strong[slot] != NULL ? strong[(slot + 1) % live] : NULL;
        if (weak[slot].hidden != NULL)
            GC_unregister_disappearing_link(&weak[slot].hidden);
        strong[slot] = object;
        weak[slot].hidden = (void *)GC_HIDE_POINTER(object);
        if (GC_general_register_disappearing_link(&weak[slot].hidden, object) != 0)
            need(NULL);
        if (i % 4 == 0)
            GC_REGISTER_FINALIZER_NO_ORDER(object, finalize, NULL, NULL, NULL);
        object->other = NULL;
    }
    GC_gcollect();
    GC_invoke_finalizers();
    for (long i = 0; i < live; i++) {
        struct object *object = GC_REVEAL_POINTER(weak[i].hidden);
        checksum += object == strong[i] ? mix(object->value) : 1;
    }
    printf("finalized=%llu\n", (unsigned long long)(finalized != 0));
    collector_finish(checksum);
}
