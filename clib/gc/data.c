/* The variables that the library exports, with the sizes and the values at the start that programs know from bdwgc.
 * They are defined here and used elsewhere, so that even a program that has them copied into itself (a COPY
 * relocation) and the library mean the same. */
#include "collector.h"

int GC_all_interior_pointers = 1;
int GC_dont_expand;
int GC_dont_gc;
int GC_dont_precollect;
int GC_finalize_on_demand;
int GC_find_leak;
int GC_full_freq = 19;
int GC_gcj_debug_kind;
int GC_gcj_kind;
int GC_java_finalization = 1;
int GC_no_dls;
int GC_parallel;
int GC_use_entire_heap;
GC_word GC_free_space_divisor = 3;
GC_word GC_gc_no;
GC_word GC_max_retries;
GC_word GC_non_gc_bytes;
unsigned long GC_time_limit = GC_TIME_UNLIMITED;
void *GC_greatest_plausible_heap_addr;
void *GC_least_plausible_heap_addr = (void *)~(uintptr_t)0;
char *GC_stackbottom;
GC_on_heap_resize_proc GC_on_heap_resize;
GC_finalizer_notifier_proc GC_finalizer_notifier;
void (*GC_push_other_roots)(void) = granary_gc_mark_stacks;
const size_t GC_debug_header_size = 32;

/* Nobody outside allocates from these lists of bdwgc's: they are always empty. */
enum { LISTS = 129 };
static void *no_objects[4][LISTS];
void **const GC_objfreelist_ptr = no_objects[0];
void **const GC_aobjfreelist_ptr = no_objects[1];
void **const GC_uobjfreelist_ptr = no_objects[2];
void **const GC_auobjfreelist_ptr = no_objects[3];
char GC_arrays[182768];

static void *no_memory(size_t bytes)
{
    (void)bytes;
    return NULL;
}

static void say_aborted(const char *message)
{
    if (message != NULL)
        granary_message("granary: %s\n", message);
}

static void say_not_same_object(void *a, void *b)
{
    granary_message("granary: GC_same_obj: %p and %p are not in the same object\n", a, b);
    granary_gc_abort(NULL);
}

static void say_bad_displacement(void *address)
{
    granary_message("granary: GC_is_valid_displacement: %p would not keep its object alive in the heap\n", address);
    granary_gc_abort(NULL);
}

static void say_not_visible(void *address)
{
    granary_message("granary: GC_is_visible: %p is not scanned by the collector\n", address);
    granary_gc_abort(NULL);
}

GC_oom_func GC_oom_fn = no_memory;
void (*GC_on_abort)(const char *) = say_aborted;
void (*GC_same_obj_print_proc)(void *, void *) = say_not_same_object;
void (*GC_is_valid_displacement_print_proc)(void *) = say_bad_displacement;
void (*GC_is_visible_print_proc)(void *) = say_not_visible;
