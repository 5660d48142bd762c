/* Settings. Most can be made before the heap is there, and count from the next collection on. */
#include "collector.h"

#include <string.h>
#include <unistd.h>

/* A setting that is an exported variable. */
#define VARIABLE(type, name)                                                                                      \
    void GC_set_##name(type value) { GC_##name = value; }                                                         \
    type GC_get_##name(void) { return GC_##name; }

VARIABLE(int, finalize_on_demand)
VARIABLE(int, java_finalization)
VARIABLE(int, dont_expand)
VARIABLE(int, full_freq)
VARIABLE(int, no_dls)
VARIABLE(int, dont_precollect)
VARIABLE(GC_word, non_gc_bytes)
VARIABLE(GC_word, max_retries)
VARIABLE(unsigned long, time_limit)
VARIABLE(GC_on_heap_resize_proc, on_heap_resize)
VARIABLE(GC_finalizer_notifier_proc, finalizer_notifier)

/* A setting of ours. */
#define OWN(type, name, initially)                                                                                \
    static type name = initially;                                                                                 \
    void GC_set_##name(type value) { name = value; }                                                              \
    type GC_get_##name(void) { return name; }

OWN(int, pages_executable, 0)
OWN(int, rate, 10)
OWN(int, max_prior_attempts, 3)
OWN(int, disable_automatic_collection, 0)
OWN(size_t, min_bytes_allocd, 1)
OWN(GC_word, allocd_bytes_per_finalizer, 10000)

/* ---- sizes of objects: fixed once the heap is there ---- */

void GC_set_all_interior_pointers(int value)
{
    value = value != 0;
    if (!atomic_load(&granary_gc_started))
        GC_all_interior_pointers = value;
    else if (value != GC_all_interior_pointers)
        granary_gc_warn("GC_set_all_interior_pointers(%ld): the heap is in use already; ignored\n", (GC_word)value);
}

int GC_get_all_interior_pointers(void) { return GC_all_interior_pointers; }

enum { OFFSETS = GC_BLOCK_BYTES };
static uint8_t displacements[OFFSETS / 8];

bool granary_gc_is_displacement(size_t offset)
{
    return offset < OFFSETS && (displacements[offset / 8] >> (offset % 8) & 1) != 0;
}

void GC_register_displacement(size_t offset)
{
    if (offset >= OFFSETS)
        granary_gc_abort("GC_register_displacement: the offset is a block's size or more");
    if (granary_gc_is_displacement(offset))
        return;
    bool took = granary_gc_lock();
    displacements[offset / 8] |= (uint8_t)(1u << (offset % 8));
    if (atomic_load(&granary_gc_started)) {
        granary_gc_into_core();
        core_gc_register_displacement(offset);
        granary_gc_out_of_core();
    }
    granary_gc_unlock(took);
}

/* As the heap starts: what was set before. */
void granary_gc_apply_early_settings(void)
{
    for (size_t offset = 0; offset < OFFSETS; offset++)
        if (granary_gc_is_displacement(offset))
            core_gc_register_displacement(offset);
}

/* ---- growth ---- */

void GC_set_free_space_divisor(GC_word divisor)
{
    if (divisor == 0)
        return;
    GC_free_space_divisor = divisor;
    if (atomic_load(&granary_gc_started)) {
        granary_gc_into_core();
        core_gc_set_divisor(divisor);
        granary_gc_out_of_core();
    }
}

GC_word GC_get_free_space_divisor(void) { return GC_free_space_divisor; }

void GC_set_max_heap_size(GC_word bytes)
{
    granary_gc_options.limit_bytes = bytes;
    if (atomic_load(&granary_gc_started)) {
        granary_gc_into_core();
        core_gc_set_limit(bytes);
        granary_gc_out_of_core();
    }
}

/* ---- time ---- */

static unsigned long limit_nanoseconds;

void GC_set_time_limit_tv(struct GC_timeval_s limit)
{
    GC_time_limit = limit.tv_ms;
    limit_nanoseconds = limit.tv_nsec;
}

struct GC_timeval_s GC_get_time_limit_tv(void)
{
    return (struct GC_timeval_s){GC_time_limit, limit_nanoseconds};
}

/* ---- procedures ---- */

void GC_set_oom_fn(GC_oom_func fn) { GC_oom_fn = fn; }
GC_oom_func GC_get_oom_fn(void) { return GC_oom_fn; }
void GC_set_abort_func(GC_abort_func fn) { GC_on_abort = fn; }
GC_abort_func GC_get_abort_func(void) { return GC_on_abort; }

void GC_ignore_warn_proc(char *format, GC_word argument)
{
    (void)format;
    (void)argument;
}

/* A warning's format has one word to print. */
static void print_warning(char *format, GC_word argument)
{
    char text[200];
    size_t length = strnlen(format, sizeof text - 1);
    memcpy(text, format, length);
    text[length] = '\0';
    GC_err_printf("granary: ");
    GC_err_printf(text, argument);
}

static GC_warn_proc warn = print_warning;

void GC_set_warn_proc(GC_warn_proc procedure) { warn = procedure; }
GC_warn_proc GC_get_warn_proc(void) { return warn; }

void GC_abort_on_oom(void)
{
    granary_message("granary: out of memory\n");
    _exit(1);
}

void GC_set_log_fd(int fd) { granary_gc_options.log_fd = fd; }

/* ---- leaks ---- */

void GC_set_find_leak(int value)
{
    GC_find_leak = value != 0;
    if (GC_find_leak)
        granary_gc_local.fast = 0;
}

int GC_get_find_leak(void) { return GC_find_leak; }

static GC_on_thread_event_proc on_thread_event;

/* Called for each thread, between the events of stopping and starting the world. */
void GC_set_on_thread_event(GC_on_thread_event_proc fn) { on_thread_event = fn; }
GC_on_thread_event_proc GC_get_on_thread_event(void) { return on_thread_event; }

static int manual_writes;

void GC_set_manual_vdb_allowed(int value) { manual_writes = value != 0; }
int GC_get_manual_vdb_allowed(void) { return manual_writes; }
