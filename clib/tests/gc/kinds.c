// Kinds of the program's own: mark procedures that know which words are addresses, descriptors, typed objects and
// arrays of them, objects with a type in front, disclaim procedures.
// library: gc
#include "check.h"

#include <gc/gc_disclaim.h>
#include <gc/gc_gcj.h>
#include <gc/gc_typed.h>

enum { OBJECTS = 300 };

static void *volatile links[OBJECTS];

/* Alive, as a link says that does not keep it so. */
static int lives(int number) { return links[number] != NULL; }

static void *watched(void *object, int number)
{
    links[number] = (void *)GC_HIDE_POINTER(object);
    GC_general_register_disappearing_link((void **)&links[number], object);
    return object;
}

static void collect(void)
{
    wipe_stack();
    GC_gcollect();
    GC_gcollect();
}

static void **volatile root;
static unsigned kind;

/* Of four words the second alone is an address, with its lowest bits taken for a tag. */
static struct GC_ms_entry *mark_second(GC_word *object, struct GC_ms_entry *stack, struct GC_ms_entry *limit,
                                       GC_word environment)
{
    CHECK(environment == 7);
    void *address = (void *)(object[1] & ~(GC_word)7);
    return GC_MARK_AND_PUSH(address, stack, limit, (void **)(object + 1));
}

static void make_marked(void *unused)
{
    (void)unused;
    void **list = NULL;
    for (int i = 0; i < 100; i++) {
        void **object = GC_generic_malloc(4 * sizeof(void *), (int)kind);
        object[0] = watched(GC_malloc(32), 2 * i); /* not looked at */
        object[1] = (char *)watched(GC_malloc(32), 2 * i + 1) + 3;
        if (i % 2 == 0) {
            void **next = GC_malloc(2 * sizeof(void *));
            next[0] = object;
            next[1] = list;
            list = next;
        }
    }
    root = list;
}

static void procedures(void)
{
    unsigned procedure = GC_new_proc(mark_second);
    kind = GC_new_kind(GC_new_free_list(), GC_MAKE_PROC(procedure, 7), 0, 1);
    far_below(make_marked, NULL);
    collect();
    int first = 0, second = 0;
    for (int i = 0; i < 100; i++) {
        first += lives(2 * i);
        if (i % 2 == 0)
            CHECK(lives(2 * i + 1));
        else
            second += lives(2 * i + 1);
    }
    CHECK(first < 10 && second < 10);
}

static void make_typed(void *unused)
{
    (void)unused;
    GC_word bitmap[2] = {0};
    GC_set_bit(bitmap, 2);
    GC_descr third = GC_make_descriptor(bitmap, 3);
    GC_word far_bits[2] = {0};
    GC_set_bit(far_bits, 0);
    GC_set_bit(far_bits, 99);
    GC_descr far_apart = GC_make_descriptor(far_bits, 100);
    root = GC_malloc_uncollectable(4 * sizeof(void *));
    void **object = root[0] = GC_malloc_explicitly_typed(4 * sizeof(void *), third);
    for (int i = 0; i < 4; i++)
        object[i] = watched(GC_malloc(40), i);
    object = root[1] = GC_malloc_explicitly_typed(120 * sizeof(void *), far_apart);
    for (int i = 0; i < 100; i++)
        object[i] = watched(GC_malloc(40), 10 + i);
    object = root[2] = GC_calloc_explicitly_typed(40, 3 * sizeof(void *), third);
    for (int i = 0; i < 120; i++)
        object[i] = watched(GC_malloc(40), 120 + i);
}

static void typed(void)
{
    far_below(make_typed, NULL);
    collect();
    int wrong = 0;
    for (int i = 0; i < 4; i++)
        wrong += i != 2 && lives(i);
    CHECK(lives(2));
    for (int i = 0; i < 100; i++)
        wrong += i != 0 && i != 99 && lives(10 + i);
    CHECK(lives(10) && lives(109));
    for (int i = 0; i < 120; i++)
        if (i % 3 == 2)
            CHECK(lives(120 + i));
        else
            wrong += lives(120 + i);
    CHECK(wrong < 15);
}

/* What gcj's programs have: the descriptor is in the type, behind its first word. */
static struct type {
    void *name;
    GC_word descriptor;
} type;

static void make_with_type(void *unused)
{
    (void)unused;
    GC_word bitmap[1] = {0};
    GC_set_bit(bitmap, 1);
    type.descriptor = GC_make_descriptor(bitmap, 2);
    void **object = GC_gcj_malloc(3 * sizeof(void *), &type);
    CHECK(object[0] == &type && object[1] == NULL);
    object[1] = watched(GC_malloc(24), 0);
    object[2] = watched(GC_malloc(24), 1);
    root = object;
}

static struct GC_ms_entry *never(GC_word *object, struct GC_ms_entry *stack, struct GC_ms_entry *limit,
                                 GC_word environment)
{
    (void)object;
    (void)limit;
    (void)environment;
    return stack;
}

static void types(void)
{
    GC_init_gcj_malloc(GC_GCJ_RESERVED_MARK_PROC_INDEX, (void *)never);
    far_below(make_with_type, NULL);
    collect();
    CHECK(lives(0) && !lives(1));
}

static int finalized;

static void count(void *object, void *data)
{
    long **words = object; /* what a dead object holds is there still */
    CHECK(data == &finalized && (words[0] == NULL || words[0][1] == 4711) && words[1] == (long *)99);
    finalized++;
}

static const struct GC_finalizer_closure closure = {count, &finalized};

static void make_finalized(void *unused)
{
    (void)unused;
    for (int i = 0; i < 5000; i++) {
        long **words = GC_finalized_malloc(24, &closure);
        words[0] = GC_malloc(32);
        words[0][1] = 4711;
        words[1] = (long *)99;
    }
}

static void disclaimed(void)
{
    GC_init_finalized_malloc();
    far_below(make_finalized, NULL);
    for (int i = 0; i < 5; i++) {
        collect();
        for (int k = 0; k < 6000; k++)
            ((long *)GC_finalized_malloc(24, &closure))[1] = 99;
    }
    CHECK(finalized >= 4500);
}

int main(void)
{
    GC_INIT();
    procedures();
    typed();
    types();
    disclaimed();
    return 0;
}
