/* Typed objects (internal/core/object) as C programs call them, and what the core needs of the
 * process: blocks of fields, stacks, messages. docs/design/object.md. */
#include "core.h"
#include "guard_print.h"
#include "stack.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define CORE_OBJECT(name) __asm__("granary_1internal_1core_1object." name)

/* Field of layout.go. */
struct layout_field {
    size_t offset, stride, element_bytes;
    uint32_t kind, count, bytes, inner, inner_count, unused;
};

enum { FIELDS_MOST = 1 << 16, DEPTH_MOST = 16, NAME_MOST = 127, FLAG_DIAGNOSE = 2 };
#define BYTES_MOST ((size_t)1 << 30)

bool core_object_start(bool system) CORE_OBJECT("ProcessStart");
uintptr_t core_object_new_type(size_t bytes, const struct layout_field *, uint32_t count, uint32_t total,
                               uint32_t flags) CORE_OBJECT("ProcessNewType");
void core_object_set_name_byte(uintptr_t type, size_t at, uint8_t value) CORE_OBJECT("ProcessSetNameByte");
bool core_object_check_layout(const struct layout_field *, uint32_t count, uint32_t total, size_t bytes)
    CORE_OBJECT("ProcessCheckLayout");
uintptr_t core_object_name(uintptr_t type) CORE_OBJECT("ProcessName");
bool core_object_is_diagnosed(uintptr_t type) CORE_OBJECT("ProcessIsDiagnosed");
uintptr_t core_object_types(void) CORE_OBJECT("ProcessTypes");
uintptr_t core_object_older(uintptr_t type) CORE_OBJECT("ProcessOlder");
uintptr_t core_object_type_of(uint64_t ref) CORE_OBJECT("ProcessTypeOf");
uint64_t core_object_new(uintptr_t type) CORE_OBJECT("ProcessNew");
uintptr_t core_object_find(uint64_t ref) CORE_OBJECT("ProcessFind");
bool core_object_is_alive(uint64_t ref) CORE_OBJECT("ProcessIsAlive");
bool core_object_delete(uint64_t ref) CORE_OBJECT("ProcessDelete");
uint64_t core_object_delete_all(uintptr_t type) CORE_OBJECT("ProcessDeleteAll");
bool core_object_retain(uint64_t ref) CORE_OBJECT("ProcessRetain");
void core_object_release(uint64_t ref) CORE_OBJECT("ProcessRelease");
uint64_t core_object_first(uintptr_t type) CORE_OBJECT("ProcessFirst");
uint64_t core_object_last(uintptr_t type) CORE_OBJECT("ProcessLast");
uint64_t core_object_after(uint64_t ref) CORE_OBJECT("ProcessAfter");
uint64_t core_object_before(uint64_t ref) CORE_OBJECT("ProcessBefore");
bool core_object_move(uint64_t ref, uint64_t to, bool after) CORE_OBJECT("ProcessMove");
uint64_t core_object_step(uintptr_t type, uint64_t current) CORE_OBJECT("ProcessStep");
uint64_t core_object_handle(uint64_t ref) CORE_OBJECT("ProcessHandle");
uint64_t core_object_from_handle(uintptr_t type, uint64_t number) CORE_OBJECT("ProcessFromHandle");
uint64_t core_object_trim(uintptr_t type) CORE_OBJECT("ProcessTrim");
void core_object_read(uintptr_t type, granary_object_stats *stats) CORE_OBJECT("ProcessRead");
bool core_object_sites(uint64_t ref, uint32_t stacks[2]) CORE_OBJECT("ProcessSites");
uint64_t core_object_next_alive(uintptr_t type, uint64_t ref, uint32_t *made) CORE_OBJECT("ProcessNextAlive");
void core_object_fork_prepare(void) CORE_OBJECT("ProcessForkPrepare");
void core_object_fork_done(void) CORE_OBJECT("ProcessForkDone");

uint32_t core_guard_intern(const uintptr_t *frames, size_t count) CORE_GUARD("ProcessIntern");

extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso);

/* ---- what the core calls ---- */

/* By its symbol, which tools put their own function behind. */
static void (*volatile release_block)(void *) = granary_free;

void granary_object_free_block(void *block) { release_block(block); }

void *granary_system_calloc(size_t size);

uint32_t granary_object_stack(void)
{
    uintptr_t frames[FRAMES_MOST];
    int saved = errno;
    size_t count = granary_stack_capture(frames, CAPTURE_MALLOC);
    errno = saved;
    return core_guard_intern(frames, count);
}

_Noreturn void granary_object_reentered(void)
{
    granary_fatal("granary: a signal handler interrupted a function granary_object_... and called one for the same "
                  "type\n");
}

/* ---- types ---- */

static bool ready;

static void prepare(void)
{
    granary_start();
    ready = core_object_start((granary_options.mode & MODE_GUARD) != 0);
    if (ready)
        __register_atfork(core_object_fork_prepare, core_object_fork_done, core_object_fork_done, NULL);
}

/* How many fields there are in all, those of elements included; above FIELDS_MOST if something is wrong. */
static size_t count_fields(const granary_object_field *fields, size_t count, int depth)
{
    size_t total = count;
    if (count > FIELDS_MOST || depth == DEPTH_MOST || (count != 0 && fields == NULL))
        return FIELDS_MOST + 1;
    for (size_t i = 0; i < count && total <= FIELDS_MOST; i++)
        if (fields[i].kind == GRANARY_OBJECT_ARRAY)
            total += count_fields(fields[i].element_fields, fields[i].element_field_count, depth + 1);
    return total;
}

/* Writes fields to table[at] and on, and those of their elements from *next on. */
static void flatten(struct layout_field *table, size_t at, const granary_object_field *fields, size_t count,
                    size_t *next)
{
    for (size_t i = 0; i < count; i++) {
        const granary_object_field *from = &fields[i];
        struct layout_field *to = &table[at + i];
        to->offset = from->offset;
        to->kind = from->kind;
        to->count = from->count == 0 ? 1 : from->count;
        to->bytes = from->kind == GRANARY_OBJECT_ARRAY ? 16 : 8;
        to->stride = from->stride == 0 ? to->bytes : from->stride;
        if (from->kind != GRANARY_OBJECT_ARRAY || from->element_field_count == 0)
            continue;
        to->element_bytes = from->element_bytes;
        to->inner = (uint32_t)*next;
        to->inner_count = (uint32_t)from->element_field_count;
        *next += from->element_field_count;
        flatten(table, to->inner, from->element_fields, from->element_field_count, next);
    }
}

static granary_object_type *no_type(int error)
{
    errno = error;
    return NULL;
}

EXPORT granary_object_type *granary_object_type_new(const char *name, size_t bytes,
                                                    const granary_object_field *fields, size_t field_count,
                                                    unsigned flags)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    size_t total = count_fields(fields, field_count, 0), next = field_count;
    if (name == NULL || bytes > BYTES_MOST || total > FIELDS_MOST || (flags & ~GRANARY_OBJECT_SINGLE_OWNER) != 0)
        return no_type(EINVAL);
    pthread_once(&once, prepare);
    struct layout_field *table = ready ? granary_calloc(total + 1, sizeof *table) : NULL;
    if (table == NULL)
        return no_type(ENOMEM);
    flatten(table, 0, fields, field_count, &next);
    bool fine = core_object_check_layout(table, (uint32_t)field_count, (uint32_t)total, bytes);
    if (granary_options.guard)
        flags |= FLAG_DIAGNOSE;
    uintptr_t type = 0;
    if (fine)
        type = core_object_new_type(bytes, table, (uint32_t)field_count, (uint32_t)total, flags);
    granary_free(table);
    if (type == 0)
        return no_type(fine ? ENOMEM : EINVAL);
    for (size_t i = 0; i < NAME_MOST && name[i] != '\0'; i++)
        core_object_set_name_byte(type, i, (uint8_t)name[i]);
    return (granary_object_type *)type;
}

EXPORT const char *granary_object_type_name(const granary_object_type *type)
{
    return (const char *)core_object_name((uintptr_t)type);
}

/* Before the first type there is no object, and the core is not prepared. */
EXPORT granary_object_type *granary_object_type_of(granary_ref ref)
{
    if (!ready || !core_object_is_alive(ref))
        return NULL;
    return (granary_object_type *)core_object_type_of(ref);
}

/* ---- objects ---- */

EXPORT granary_ref granary_object_new(granary_object_type *type)
{
    granary_ref ref = core_object_new((uintptr_t)type);
    if (UNLIKELY(ref == 0))
        errno = ENOMEM;
    return ref;
}

EXPORT void *granary_object_get(granary_ref ref)
{
    return LIKELY(ready) ? (void *)core_object_find(ref) : NULL;
}

static _Noreturn void does_not_exist(granary_ref ref)
{
    uintptr_t type = ready ? core_object_type_of(ref) : 0;
    uint32_t stacks[2] = {0, 0};
    bool known = type != 0 && core_object_sites(ref, stacks);
    granary_print_begin();
    granary_print("granary: %s%sObject does not exist.\n", type != 0 ? (const char *)core_object_name(type) : "",
                  type != 0 ? ": " : "");
    if (known) {
        granary_print("  deleted at:\n");
        granary_print_frames(stacks[1]);
        granary_print("  made at:\n");
        granary_print_frames(stacks[0]);
    } else if (type != 0 && !granary_options.guard) {
        granary_print("  run with GRANARY_DEBUG_ALLOC=1 to see where it was deleted\n");
    }
    granary_print_end();
    abort();
}

EXPORT void *granary_object_must(granary_ref ref)
{
    void *fields = granary_object_get(ref);
    if (UNLIKELY(fields == NULL))
        does_not_exist(ref);
    return fields;
}

EXPORT void granary_object_delete(granary_ref *ref)
{
    if (ready)
        core_object_delete(*ref);
    *ref = 0;
}

EXPORT void granary_object_delete_var(granary_var *variable)
{
    if (ready)
        core_object_delete(__atomic_load_n(&variable->ref, __ATOMIC_ACQUIRE));
    granary_object_clear(variable);
}

EXPORT size_t granary_object_delete_each(granary_object_type *type)
{
    return core_object_delete_all((uintptr_t)type);
}

EXPORT void granary_object_set(granary_var *variable, granary_ref ref)
{
    if (ref != 0 && (!ready || !core_object_retain(ref)))
        ref = 0;
    granary_ref old = __atomic_exchange_n(&variable->ref, ref, __ATOMIC_ACQ_REL);
    if (old != 0 && ready)
        core_object_release(old);
}

EXPORT void granary_object_clear(granary_var *variable) { granary_object_set(variable, 0); }

EXPORT int granary_object_is_null(granary_ref ref) { return !ready || !core_object_is_alive(ref); }

EXPORT int granary_object_equal(granary_ref a, granary_ref b)
{
    return a == b || (granary_object_is_null(a) && granary_object_is_null(b));
}

/* ---- the list ---- */

EXPORT granary_ref granary_object_first(granary_object_type *type) { return core_object_first((uintptr_t)type); }

EXPORT granary_ref granary_object_last(granary_object_type *type) { return core_object_last((uintptr_t)type); }

EXPORT granary_ref granary_object_after(granary_ref ref) { return ready ? core_object_after(ref) : 0; }

EXPORT granary_ref granary_object_before(granary_ref ref) { return ready ? core_object_before(ref) : 0; }

static int insert(granary_ref ref, granary_ref to, bool after)
{
    if (ready && core_object_move(ref, to, after))
        return 0;
    errno = EINVAL;
    return -1;
}

EXPORT int granary_object_insert_after(granary_ref ref, granary_ref to) { return insert(ref, to, true); }

EXPORT int granary_object_insert_before(granary_ref ref, granary_ref to) { return insert(ref, to, false); }

EXPORT granary_ref granary_object_start(granary_object_type *type) { return core_object_step((uintptr_t)type, 0); }

EXPORT granary_ref granary_object_next(granary_object_type *type, granary_ref current)
{
    return current == 0 ? 0 : core_object_step((uintptr_t)type, current);
}

EXPORT void granary_object_stop(granary_object_type *type, granary_ref current)
{
    (void)type;
    if (ready)
        core_object_release(current);
}

/* ---- handles, figures ---- */

EXPORT int64_t granary_object_handle(granary_ref ref) { return ready ? (int64_t)core_object_handle(ref) : 0; }

EXPORT granary_ref granary_object_from_handle(granary_object_type *type, int64_t handle)
{
    return core_object_from_handle((uintptr_t)type, (uint64_t)handle);
}

EXPORT int granary_object_get_stats(granary_object_type *type, granary_object_stats *stats, size_t bytes)
{
    granary_object_stats now;
    if (stats == NULL || bytes < sizeof stats->alive) {
        errno = EINVAL;
        return -1;
    }
    core_object_read((uintptr_t)type, &now);
    memset(stats, 0, bytes);
    memcpy(stats, &now, bytes < sizeof now ? bytes : sizeof now);
    return 0;
}

EXPORT size_t granary_object_trim(granary_object_type *type) { return core_object_trim((uintptr_t)type); }

/* ---- leaks ---- */

enum { SITES_MOST = 256 };

struct sites {
    size_t count, others; /* others: objects of sites beyond SITES_MOST */
    struct {
        uint32_t made;
        size_t objects;
    } list[SITES_MOST];
};

static void count_site(struct sites *sites, uint32_t made)
{
    size_t i = 0;
    while (i < sites->count && sites->list[i].made != made)
        i++;
    if (i == SITES_MOST) {
        sites->others++;
        return;
    }
    if (i == sites->count) {
        sites->list[sites->count].made = made;
        sites->list[sites->count++].objects = 0;
    }
    sites->list[i].objects++;
}

static int by_objects(const void *a, const void *b)
{
    const size_t *left = (const size_t *)((const char *)a + sizeof(size_t));
    const size_t *right = (const size_t *)((const char *)b + sizeof(size_t));
    return *left > *right ? -1 : *left < *right;
}

static size_t report_type(uintptr_t type, struct sites *sites)
{
    granary_object_stats stats;
    const char *name = (const char *)core_object_name(type);
    core_object_read(type, &stats);
    if (core_object_is_diagnosed(type)) {
        uint32_t made = 0;
        sites->count = sites->others = 0;
        for (uint64_t ref = core_object_next_alive(type, 0, &made); ref != 0;
             ref = core_object_next_alive(type, ref, &made))
            count_site(sites, made);
        qsort(sites->list, sites->count, sizeof sites->list[0], by_objects);
        for (size_t i = 0; i < sites->count; i++) {
            granary_print("granary: leak: %s: %zu objects were not deleted, made at:\n", name,
                          sites->list[i].objects);
            granary_print_frames(sites->list[i].made);
        }
        if (sites->others != 0)
            granary_print("granary: leak: %s: %zu objects of other places\n", name, sites->others);
    } else if (stats.alive != 0) {
        granary_print("granary: leak: %s: %zu objects were not deleted\n", name, (size_t)stats.alive);
    }
    if (stats.unreleased != 0)
        granary_print("granary: leak: %s: %zu objects are deleted but still held\n", name,
                      (size_t)stats.unreleased);
    return stats.alive;
}

EXPORT size_t granary_object_report(void)
{
    static struct sites sites; /* threads may have small stacks; guarded by granary_print_begin */
    size_t objects = 0;
    if (!ready)
        return 0;
    granary_print_begin();
    for (uintptr_t type = core_object_types(); type != 0; type = core_object_older(type))
        objects += report_type(type, &sites);
    granary_print_end();
    return objects;
}

/* Before the guard's report, whose destructor has the priority 101. */
__attribute__((destructor(102))) static void at_exit(void)
{
    if (ready && granary_options.guard && !granary_print_failed())
        granary_object_report();
}
