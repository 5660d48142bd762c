/* Kinds of objects that the program makes: mark procedures, disclaim procedures, objects with a type in front. */
#include "collector.h"

enum { PROCEDURES_MOST = 64, PROCEDURES_RESERVED = 8, PROCEDURE_SHIFT = 2, ENVIRONMENT_SHIFT = 8 };

static GC_mark_proc procedures[PROCEDURES_MOST];
static unsigned procedure_count = PROCEDURES_RESERVED;
static GC_disclaim_proc disclaims[GC_KINDS_MOST];
static GC_describe_type_fn describers[GC_KINDS_MOST];
static bool from_all[GC_KINDS_MOST]; /* a disclaim procedure looks at what its dead objects hold */

/* ---- mark procedures ---- */

/* Called by the core for an object whose descriptor names a procedure. The program's procedure gets the marker as its
 * mark stack, and gives it back to GC_mark_and_push. */
void granary_gc_call_procedure(uint32_t number, uintptr_t object, uintptr_t marker, uintptr_t environment)
{
    GC_mark_proc procedure = procedures[number % PROCEDURES_MOST];
    struct GC_ms_entry *stack = (struct GC_ms_entry *)marker;
    if (procedure != NULL)
        procedure((GC_word *)object, stack, stack + (1 << 20), environment);
}

struct GC_ms_entry *GC_mark_and_push(void *object, struct GC_ms_entry *stack, struct GC_ms_entry *limit, void **source)
{
    (void)limit;
    (void)source;
    core_gc_mark_from_procedure((uintptr_t)stack, (uintptr_t)object);
    return stack;
}

unsigned GC_new_proc(GC_mark_proc procedure)
{
    bool took = granary_gc_lock();
    unsigned number = procedure_count;
    if (number < PROCEDURES_MOST) {
        procedures[number] = procedure;
        procedure_count++;
    }
    granary_gc_unlock(took);
    if (number == PROCEDURES_MOST)
        granary_gc_abort("GC_new_proc: 64 mark procedures are as many as a descriptor can name");
    return number;
}

unsigned GC_new_proc_inner(GC_mark_proc procedure) { return GC_new_proc(procedure); }

/* ---- kinds ---- */

/* Objects never come from such a list, so it stays empty. */
void **GC_new_free_list(void)
{
    enum { LISTS = 129 };
    void **list = granary_gc_pages(LISTS * sizeof *list);
    if (list == NULL)
        granary_gc_abort("GC_new_free_list: no memory");
    return list;
}

void **GC_new_free_list_inner(void) { return GC_new_free_list(); }

unsigned GC_new_kind(void **list, GC_word descriptor, int add_size, int clear)
{
    (void)list;
    granary_gc_enter();
    granary_gc_into_core();
    uint32_t kind = core_gc_new_kind(descriptor, add_size != 0, clear != 0);
    granary_gc_out_of_core();
    if (kind >= GC_KINDS_MOST)
        granary_gc_abort("GC_new_kind: there are 64 kinds already");
    return kind;
}

unsigned GC_new_kind_inner(void **list, GC_word descriptor, int add_size, int clear)
{
    return GC_new_kind(list, descriptor, add_size, clear);
}

void GC_register_describe_type_fn(int kind, GC_describe_type_fn describe)
{
    if (kind >= 0 && kind < GC_KINDS_MOST)
        describers[kind] = describe;
}

GC_describe_type_fn granary_gc_describer(uint32_t kind) { return kind < GC_KINDS_MOST ? describers[kind] : NULL; }

/* ---- disclaim ---- */

/* Called by the core for a dead object. A procedure that keeps it answers not 0. */
bool granary_gc_disclaim(uint32_t number, uintptr_t object)
{
    GC_disclaim_proc disclaim = disclaims[number % GC_KINDS_MOST];
    return disclaim != NULL && disclaim((void *)object) != 0;
}

/* mark_from_all asks that what a dead object holds lives until the procedure has seen it. */
void GC_register_disclaim_proc(int kind, GC_disclaim_proc disclaim, int mark_from_all)
{
    granary_gc_enter();
    if (kind < 0 || kind >= GC_KINDS_MOST)
        granary_gc_abort("GC_register_disclaim_proc: no such kind");
    disclaims[kind] = disclaim;
    from_all[kind] = mark_from_all != 0;
    granary_gc_into_core();
    core_gc_set_disclaim((uint32_t)kind, (uint32_t)kind);
    granary_gc_out_of_core();
}

/* Marking is over but for this. Returns whether there is something to drain again. */
bool granary_gc_mark_from_dead(void)
{
    bool any = false;
    for (uint32_t kind = 0; kind < GC_KINDS_MOST; kind++)
        if (from_all[kind]) {
            core_gc_mark_from_kind(kind);
            any = true;
        }
    return any;
}

/* ---- objects that name their finalizer in their first word ---- */

static int finalized_kind = -1;

static int run_closure(void *object)
{
    uintptr_t word = *(uintptr_t *)object;
    if ((word & 1) == 0)
        return 0; /* not in use */
    const struct GC_finalizer_closure *closure = (const void *)(word & ~(uintptr_t)1);
    closure->proc((char *)object + sizeof word, closure->cd);
    return 0;
}

void GC_init_finalized_malloc(void)
{
    granary_gc_enter();
    bool took = granary_gc_lock();
    if (finalized_kind < 0) {
        finalized_kind = (int)GC_new_kind(NULL, 0, 1, 1);
        GC_register_disclaim_proc(finalized_kind, run_closure, 1);
    }
    granary_gc_unlock(took);
}

/* The word in front of what the program gets is the closure; bit 0 says that it is one, and keeps it from being an
 * address of the heap. The caller keeps the closure. */
void *GC_finalized_malloc(size_t bytes, const struct GC_finalizer_closure *closure)
{
    if (finalized_kind < 0)
        GC_init_finalized_malloc();
    if (bytes > SIZE_MAX - sizeof(uintptr_t))
        return GC_oom_fn(bytes);
    uintptr_t *object = granary_gc_allocate(bytes + sizeof *object, (uint32_t)finalized_kind, 0);
    if (object == NULL)
        return NULL;
    GC_register_displacement(sizeof *object);
    *object = (uintptr_t)closure | 1;
    return object + 1;
}

/* ---- objects whose first word is the address of a type, which holds the descriptor ---- */

enum { DESCRIPTOR_IN_TYPE = sizeof(GC_word), INDIRECT_BIAS = 16, PER_OBJECT = 3 };

void GC_init_gcj_malloc(int number, void *procedure)
{
    granary_gc_enter();
    bool took = granary_gc_lock();
    if (GC_gcj_kind == 0) {
        if (number < 0 || number >= PROCEDURES_MOST)
            granary_gc_abort("GC_init_gcj_malloc: no such mark procedure");
        procedures[number] = (GC_mark_proc)procedure;
        GC_word descriptor = (GC_word)(-(GC_signed_word)DESCRIPTOR_IN_TYPE - INDIRECT_BIAS) | PER_OBJECT;
        GC_gcj_kind = (int)GC_new_kind(NULL, descriptor, 0, 1);
        GC_word checked = (GC_word)number << PROCEDURE_SHIFT | (GC_word)1 << ENVIRONMENT_SHIFT | 2;
        GC_gcj_debug_kind = (int)GC_new_kind(NULL, checked, 0, 1);
    }
    granary_gc_unlock(took);
}

static void *malloc_with_type(size_t bytes, void *type, uint32_t flags)
{
    if (GC_gcj_kind == 0)
        granary_gc_abort("GC_gcj_malloc: GC_init_gcj_malloc comes first");
    void **object = granary_gc_allocate(bytes < sizeof type ? sizeof type : bytes, (uint32_t)GC_gcj_kind, flags);
    if (object != NULL)
        *object = type;
    return object;
}

void *GC_gcj_malloc(size_t bytes, void *type) { return malloc_with_type(bytes, type, 0); }

void *GC_gcj_malloc_ignore_off_page(size_t bytes, void *type)
{
    return malloc_with_type(bytes, type, GC_ALLOC_IGNORE_OFF_PAGE);
}
