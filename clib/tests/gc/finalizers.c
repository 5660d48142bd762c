// Finalizers of each order, weak links short and long, replaced and taken back ones, the notifier, and finalizers on
// demand.
// library: gc
#include "check.h"

enum { OBJECTS = 200 };

struct object {
    struct object *other;
    long number;
};

static int ran[OBJECTS];
static long ran_before[OBJECTS], sequence;
static int notified;

static void finalize(void *object, void *data)
{
    long number = (long)data;
    CHECK(((struct object *)object)->number == number);
    ran[number]++;
    ran_before[number] = ++sequence;
}

static struct object *make(long number)
{
    struct object *object = GC_malloc(sizeof *object);
    object->number = number;
    return object;
}

typedef void (*registrar)(void *, GC_finalization_proc, void *, GC_finalization_proc *, void **);

static void make_chains(void *registrar_address)
{
    registrar add = *(registrar *)registrar_address;
    struct object *before = NULL;
    for (long i = 0; i < OBJECTS; i++) {
        struct object *object = make(i);
        if (i % 10 != 0)
            object->other = before; /* chains of ten: the last one leads to all */
        add(object, finalize, (void *)i, NULL, NULL);
        before = object;
    }
}

static void collect(int times)
{
    for (int i = 0; i < times; i++) {
        wipe_stack();
        GC_gcollect();
    }
}

static int count_ran(void)
{
    int count = 0;
    for (int i = 0; i < OBJECTS; i++) {
        CHECK(ran[i] <= 1);
        count += ran[i];
    }
    return count;
}

static void chains(registrar add, int ordered, int collections)
{
    memset(ran, 0, sizeof ran);
    far_below(make_chains, &add);
    collect(collections);
    CHECK(count_ran() >= OBJECTS - 10);
    for (int i = 0; ordered && i + 1 < OBJECTS; i++)
        if (i % 10 != 9 && ran[i] && ran[i + 1])
            CHECK(ran_before[i] > ran_before[i + 1]);
}

static void make_self(void *unused)
{
    (void)unused;
    for (long i = 0; i < OBJECTS; i++) {
        struct object *object = make(i);
        object->other = object;
        GC_register_finalizer_ignore_self(object, finalize, (void *)i, NULL, NULL);
    }
}

static void self(void)
{
    memset(ran, 0, sizeof ran);
    far_below(make_self, NULL);
    collect(3);
    CHECK(count_ran() >= OBJECTS - 10);
}

static void replaced(void)
{
    struct object *object = make(5);
    GC_finalization_proc old = NULL;
    void *old_data = NULL;
    GC_register_finalizer(object, finalize, (void *)5, &old, &old_data);
    CHECK(old == NULL && old_data == NULL);
    GC_register_finalizer_no_order(object, NULL, NULL, &old, &old_data);
    CHECK(old == finalize && old_data == (void *)5);
    GC_register_finalizer(object, NULL, NULL, &old, &old_data);
    CHECK(old == NULL);
}

static void *volatile short_links[OBJECTS], *volatile long_links[OBJECTS];
static struct object *saved;

static void save(void *object, void *data)
{
    (void)data;
    saved = object;
}

static void make_links(void *unused)
{
    (void)unused;
    for (long i = 0; i < OBJECTS; i++) {
        struct object *object = make(i);
        short_links[i] = long_links[i] = (void *)GC_HIDE_POINTER(object);
        CHECK(GC_general_register_disappearing_link((void **)&short_links[i], object) == GC_SUCCESS);
        CHECK(GC_register_long_link((void **)&long_links[i], object) == GC_SUCCESS);
        CHECK(GC_general_register_disappearing_link((void **)&short_links[i], object) == GC_DUPLICATE);
    }
    struct object *kept = make(4711);
    GC_register_finalizer_no_order(kept, save, NULL, NULL, NULL);
    short_links[0] = long_links[0] = (void *)GC_HIDE_POINTER(kept);
    GC_unregister_disappearing_link((void **)&short_links[0]);
    GC_unregister_long_link((void **)&long_links[0]);
    CHECK(GC_unregister_long_link((void **)&long_links[0]) == 0);
    GC_general_register_disappearing_link((void **)&short_links[0], kept);
    GC_register_long_link((void **)&long_links[0], kept);
}

static void links(void)
{
    far_below(make_links, NULL);
    collect(1);
    int left = 0;
    for (int i = 1; i < OBJECTS; i++)
        left += short_links[i] != NULL;
    CHECK(left < 10);
    CHECK(short_links[0] == NULL && long_links[0] != NULL); /* it came back to life */
    CHECK(saved != NULL && saved->number == 4711 && GC_REVEAL_POINTER(long_links[0]) == saved);
    saved = NULL;
    collect(3);
    CHECK(long_links[0] == NULL);
    static void *volatile from, *volatile to;
    struct object *object = make(1);
    from = (void *)GC_HIDE_POINTER(object);
    GC_general_register_disappearing_link((void **)&from, object);
    CHECK(GC_move_disappearing_link((void **)&from, (void **)&to) == GC_SUCCESS);
    CHECK(GC_move_disappearing_link((void **)&from, (void **)&to) == GC_NOT_FOUND);
    CHECK(GC_unregister_disappearing_link((void **)&to) == 1 && object->number == 1);
}

static void notify(void) { notified++; }

static void on_demand(void)
{
    registrar add = GC_register_finalizer_no_order;
    memset(ran, 0, sizeof ran);
    GC_set_finalize_on_demand(1);
    GC_set_finalizer_notifier(notify);
    far_below(make_chains, &add);
    collect(2);
    CHECK(count_ran() == 0 && notified >= 1 && GC_should_invoke_finalizers());
    CHECK(GC_invoke_finalizers() >= OBJECTS - 10);
    CHECK(count_ran() >= OBJECTS - 10 && !GC_should_invoke_finalizers());
    GC_set_finalize_on_demand(0);
    GC_set_finalizer_notifier(NULL);
}

int main(void)
{
    GC_INIT();
    GC_set_warn_proc(GC_ignore_warn_proc);
    chains(GC_register_finalizer, 1, 15);
    chains(GC_register_finalizer_no_order, 0, 3);
    chains(GC_register_finalizer_unreachable, 0, 15);
    self();
    replaced();
    links();
    on_demand();
    return 0;
}
