/* The functions and variables that libgc.so.1 exports: the interface of bdwgc 8.2, as programs compiled against its
 * headers call it. tests/gc/declarations.c compiles this file together with those headers, so that a type that
 * differs is an error. docs/libgc.md says what each group does. */
#ifndef GRANARY_GC_API_H
#define GRANARY_GC_API_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#ifndef GC_H /* not beside bdwgc's own headers */
typedef unsigned long GC_word;
typedef long GC_signed_word;
typedef GC_word GC_descr;
typedef void *(*GC_oom_func)(size_t);
typedef void (*GC_on_heap_resize_proc)(GC_word);
typedef void (*GC_finalizer_notifier_proc)(void);
typedef int (*GC_stop_func)(void);
typedef void (*GC_finalization_proc)(void *, void *);
typedef void (*GC_await_finalize_proc)(void *);
typedef void (*GC_warn_proc)(char *, GC_word);
typedef void (*GC_abort_func)(const char *);
typedef void *(*GC_fn_type)(void *);
typedef void (*GC_start_callback_proc)(void);
typedef void (*GC_push_other_roots_proc)(void);
typedef void (*GC_reachable_object_proc)(void *, size_t, void *);
typedef void (*GC_describe_type_fn)(void *, char *);
typedef int (*GC_disclaim_proc)(void *);
typedef int (*GC_has_static_roots_func)(const char *, void *, size_t);

typedef enum {
    GC_EVENT_START,
    GC_EVENT_MARK_START,
    GC_EVENT_MARK_END,
    GC_EVENT_RECLAIM_START,
    GC_EVENT_RECLAIM_END,
    GC_EVENT_END,
    GC_EVENT_PRE_STOP_WORLD,
    GC_EVENT_POST_STOP_WORLD,
    GC_EVENT_PRE_START_WORLD,
    GC_EVENT_POST_START_WORLD,
    GC_EVENT_THREAD_SUSPENDED,
    GC_EVENT_THREAD_UNSUSPENDED
} GC_EventType;
typedef void (*GC_on_collection_event_proc)(GC_EventType);
typedef void (*GC_on_thread_event_proc)(GC_EventType, void *);

typedef enum { GC_TOGGLE_REF_DROP, GC_TOGGLE_REF_STRONG, GC_TOGGLE_REF_WEAK } GC_ToggleRefStatus;
typedef GC_ToggleRefStatus (*GC_toggleref_func)(void *);

struct GC_timeval_s {
    unsigned long tv_ms;
    unsigned long tv_nsec;
};

struct GC_stack_base {
    void *mem_base;
};
typedef void *(*GC_stack_base_func)(struct GC_stack_base *, void *);

struct GC_prof_stats_s {
    GC_word heapsize_full;
    GC_word free_bytes_full;
    GC_word unmapped_bytes;
    GC_word bytes_allocd_since_gc;
    GC_word allocd_bytes_before_gc;
    GC_word non_gc_bytes;
    GC_word gc_no;
    GC_word markers_m1;
    GC_word bytes_reclaimed_since_gc;
    GC_word reclaimed_bytes_before_gc;
    GC_word expl_freed_bytes_since_gc;
    GC_word obtained_from_os_bytes;
};

struct GC_ms_entry {
    void *opaque;
};
typedef struct GC_ms_entry *(*GC_mark_proc)(GC_word *, struct GC_ms_entry *, struct GC_ms_entry *, GC_word);

struct GC_finalizer_closure {
    GC_finalization_proc proc;
    void *cd;
};

enum { GC_SUCCESS = 0, GC_DUPLICATE = 1, GC_NO_MEMORY = 2, GC_UNIMPLEMENTED = 3, GC_NOT_FOUND = 4 };
#define GC_TIME_UNLIMITED 999999
#endif

#pragma GCC visibility push(default)

/* ---- allocation: api_alloc.c, api_objects.c ---- */
void *GC_malloc(size_t);
void *GC_malloc_atomic(size_t);
void *GC_malloc_uncollectable(size_t);
void *GC_malloc_atomic_uncollectable(size_t);
void *GC_malloc_ignore_off_page(size_t);
void *GC_malloc_atomic_ignore_off_page(size_t);
void *GC_malloc_stubborn(size_t);
void *GC_malloc_many(size_t);
void *GC_malloc_kind(size_t, int);
void *GC_malloc_kind_global(size_t, int);
void *GC_generic_malloc(size_t, int);
void *GC_generic_malloc_ignore_off_page(size_t, int);
void *GC_generic_malloc_uncollectable(size_t, int);
void *GC_generic_or_special_malloc(size_t, int);
void GC_generic_malloc_many(size_t, int, void **);
void *GC_memalign(size_t, size_t);
int GC_posix_memalign(void **, size_t, size_t);
char *GC_strdup(const char *);
char *GC_strndup(const char *, size_t);
void *GC_realloc(void *, size_t);
void GC_free(void *);
void *GC_base(void *);
size_t GC_size(const void *);
int GC_is_heap_ptr(const void *);
int GC_get_kind_and_size(const void *, size_t *);
void GC_change_stubborn(const void *);
void GC_end_stubborn_change(const void *);
void GC_ptr_store_and_dirty(void *, const void *);
void *GC_clear_stack(void *);
void GC_noop1(GC_word);
void *GC_same_obj(void *, void *);
void *GC_is_visible(void *);
void *GC_is_valid_displacement(void *);
void *GC_pre_incr(void **, ptrdiff_t);
void *GC_post_incr(void **, ptrdiff_t);
int GC_is_marked(const void *);
void GC_set_mark_bit(const void *);
void GC_clear_mark_bit(const void *);

/* ---- kinds, procedures, typed objects: api_kinds.c, api_typed.c ---- */
void **GC_new_free_list(void);
void **GC_new_free_list_inner(void);
unsigned GC_new_kind(void **, GC_word, int, int);
unsigned GC_new_kind_inner(void **, GC_word, int, int);
unsigned GC_new_proc(GC_mark_proc);
unsigned GC_new_proc_inner(GC_mark_proc);
struct GC_ms_entry *GC_mark_and_push(void *, struct GC_ms_entry *, struct GC_ms_entry *, void **);
void GC_register_displacement(size_t);
void GC_debug_register_displacement(size_t);
void GC_register_describe_type_fn(int, GC_describe_type_fn);
void GC_register_disclaim_proc(int, GC_disclaim_proc, int);
void GC_init_finalized_malloc(void);
void *GC_finalized_malloc(size_t, const struct GC_finalizer_closure *);
GC_descr GC_make_descriptor(const GC_word *, size_t);
void *GC_malloc_explicitly_typed(size_t, GC_descr);
void *GC_malloc_explicitly_typed_ignore_off_page(size_t, GC_descr);
void *GC_calloc_explicitly_typed(size_t, size_t, GC_descr);
void GC_init_gcj_malloc(int, void *);
void *GC_gcj_malloc(size_t, void *);
void *GC_gcj_malloc_ignore_off_page(size_t, void *);

/* ---- collecting: api_collect.c ---- */
void GC_init(void);
int GC_is_init_called(void);
void GC_deinit(void);
void GC_gcollect(void);
void GC_gcollect_and_unmap(void);
int GC_try_to_collect(GC_stop_func);
void GC_set_stop_func(GC_stop_func);
GC_stop_func GC_get_stop_func(void);
void GC_enable(void);
void GC_disable(void);
int GC_is_disabled(void);
int GC_collect_a_little(void);
void GC_enable_incremental(void);
void GC_start_incremental_collection(void);
int GC_is_incremental_mode(void);
int GC_incremental_protection_needs(void);
int GC_expand_hp(size_t);
void GC_atfork_prepare(void);
void GC_atfork_parent(void);
void GC_atfork_child(void);
void GC_alloc_lock(void);
void GC_alloc_unlock(void);
void *GC_call_with_alloc_lock(GC_fn_type, void *);
void GC_stop_world_external(void);
void GC_start_world_external(void);
void GC_enumerate_reachable_objects_inner(GC_reachable_object_proc, void *);

/* ---- roots: api_roots.c ---- */
void GC_add_roots(void *, void *);
void GC_remove_roots(void *, void *);
void GC_clear_roots(void);
void GC_exclude_static_roots(void *, void *);
void GC_clear_exclusion_table(void);
void GC_register_has_static_roots_callback(GC_has_static_roots_func);
int GC_is_tmp_root(void *);
void GC_push_all(void *, void *);
void GC_push_all_eager(void *, void *);
void GC_push_conditional(void *, void *, int);
void GC_push_finalizer_structures(void);
void GC_set_push_other_roots(GC_push_other_roots_proc);
GC_push_other_roots_proc GC_get_push_other_roots(void);

/* ---- threads: api_threads.c ---- */
void GC_allow_register_threads(void);
int GC_register_my_thread(const struct GC_stack_base *);
int GC_unregister_my_thread(void);
int GC_thread_is_registered(void);
int GC_get_stack_base(struct GC_stack_base *);
void *GC_get_my_stackbottom(struct GC_stack_base *);
void GC_set_stackbottom(void *, const struct GC_stack_base *);
void GC_register_altstack(void *, GC_word, void *, GC_word);
void *GC_call_with_stack_base(GC_stack_base_func, void *);
void *GC_do_blocking(GC_fn_type, void *);
void *GC_call_with_gc_active(GC_fn_type, void *);
void GC_start_mark_threads(void);
void GC_set_suspend_signal(int);
void GC_set_thr_restart_signal(int);
int GC_get_suspend_signal(void);
int GC_get_thr_restart_signal(void);
void GC_suspend_thread(pthread_t);
void GC_resume_thread(pthread_t);
int GC_is_thread_suspended(pthread_t);
void *GC_dlopen(const char *, int);
int GC_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int GC_pthread_join(pthread_t, void **);
int GC_pthread_detach(pthread_t);
int GC_pthread_cancel(pthread_t);
void GC_pthread_exit(void *) __attribute__((noreturn));
int GC_pthread_sigmask(int, const sigset_t *, sigset_t *);

/* ---- finalizers and links: api_final.c ---- */
void GC_register_finalizer(void *, GC_finalization_proc, void *, GC_finalization_proc *, void **);
void GC_register_finalizer_ignore_self(void *, GC_finalization_proc, void *, GC_finalization_proc *, void **);
void GC_register_finalizer_no_order(void *, GC_finalization_proc, void *, GC_finalization_proc *, void **);
void GC_register_finalizer_unreachable(void *, GC_finalization_proc, void *, GC_finalization_proc *, void **);
int GC_should_invoke_finalizers(void);
int GC_invoke_finalizers(void);
void GC_finalize_all(void);
int GC_register_disappearing_link(void **);
int GC_general_register_disappearing_link(void **, const void *);
int GC_move_disappearing_link(void **, void **);
int GC_unregister_disappearing_link(void **);
int GC_register_long_link(void **, const void *);
int GC_move_long_link(void **, void **);
int GC_unregister_long_link(void **);
int GC_toggleref_add(void *, int);

/* ---- figures and printing: api_stats.c, api_dump.c ---- */
unsigned GC_get_version(void);
GC_word GC_get_gc_no(void);
int GC_get_parallel(void);
size_t GC_get_heap_size(void);
size_t GC_get_free_bytes(void);
size_t GC_get_unmapped_bytes(void);
size_t GC_get_bytes_since_gc(void);
size_t GC_get_expl_freed_bytes_since_gc(void);
size_t GC_get_total_bytes(void);
size_t GC_get_obtained_from_os_bytes(void);
size_t GC_get_memory_use(void);
size_t GC_get_size_map_at(int);
void GC_get_heap_usage_safe(GC_word *, GC_word *, GC_word *, GC_word *, GC_word *);
size_t GC_get_prof_stats(struct GC_prof_stats_s *, size_t);
size_t GC_get_prof_stats_unsafe(struct GC_prof_stats_s *, size_t);
void GC_start_performance_measurement(void);
unsigned long GC_get_full_gc_total_time(void);
void GC_incr_bytes_allocd(size_t);
void GC_incr_bytes_freed(size_t);
void GC_dump(void);
void GC_dump_named(const char *);
void GC_dump_regions(void);
void GC_dump_finalization(void);
void GC_print_free_list(int, size_t);
void GC_printf(const char *, ...) __attribute__((format(printf, 1, 2)));
void GC_err_printf(const char *, ...) __attribute__((format(printf, 1, 2)));
void GC_log_printf(const char *, ...) __attribute__((format(printf, 1, 2)));
void GC_abort_on_oom(void);
void GC_ignore_warn_proc(char *, GC_word);

/* ---- checked objects: api_debug.c ---- */
void *GC_debug_malloc(size_t, const char *, int);
void *GC_debug_malloc_atomic(size_t, const char *, int);
void *GC_debug_malloc_uncollectable(size_t, const char *, int);
void *GC_debug_malloc_atomic_uncollectable(size_t, const char *, int);
void *GC_debug_malloc_stubborn(size_t, const char *, int);
void *GC_debug_malloc_ignore_off_page(size_t, const char *, int);
void *GC_debug_malloc_atomic_ignore_off_page(size_t, const char *, int);
void *GC_debug_generic_or_special_malloc(size_t, int, const char *, int);
void *GC_debug_gcj_malloc(size_t, void *, const char *, int);
void *GC_debug_malloc_replacement(size_t);
void *GC_debug_realloc(void *, size_t, const char *, int);
void *GC_debug_realloc_replacement(void *, size_t);
char *GC_debug_strdup(const char *, const char *, int);
char *GC_debug_strndup(const char *, size_t, const char *, int);
void GC_debug_free(void *);
void GC_debug_change_stubborn(const void *);
void GC_debug_end_stubborn_change(const void *);
void GC_debug_ptr_store_and_dirty(void *, const void *);
void GC_debug_register_finalizer(void *, GC_finalization_proc, void *, GC_finalization_proc *, void **);
void GC_debug_register_finalizer_ignore_self(void *, GC_finalization_proc, void *, GC_finalization_proc *, void **);
void GC_debug_register_finalizer_no_order(void *, GC_finalization_proc, void *, GC_finalization_proc *, void **);
void GC_debug_register_finalizer_unreachable(void *, GC_finalization_proc, void *, GC_finalization_proc *, void **);
size_t GC_get_debug_header_size(void);

/* ---- settings: api_config.c; each has its getter ---- */
#define GC_SETTING(type, name)                                                                                    \
    void GC_set_##name(type);                                                                                     \
    type GC_get_##name(void)
GC_SETTING(int, all_interior_pointers);
GC_SETTING(int, find_leak);
GC_SETTING(int, finalize_on_demand);
GC_SETTING(int, java_finalization);
GC_SETTING(int, dont_expand);
GC_SETTING(int, full_freq);
GC_SETTING(int, no_dls);
GC_SETTING(int, dont_precollect);
GC_SETTING(int, pages_executable);
GC_SETTING(int, rate);
GC_SETTING(int, max_prior_attempts);
GC_SETTING(int, disable_automatic_collection);
GC_SETTING(int, manual_vdb_allowed);
GC_SETTING(int, force_unmap_on_gcollect);
GC_SETTING(size_t, min_bytes_allocd);
GC_SETTING(GC_word, non_gc_bytes);
GC_SETTING(GC_word, free_space_divisor);
GC_SETTING(GC_word, max_retries);
GC_SETTING(GC_word, allocd_bytes_per_finalizer);
GC_SETTING(unsigned long, time_limit);
GC_SETTING(struct GC_timeval_s, time_limit_tv);
GC_SETTING(GC_oom_func, oom_fn);
GC_SETTING(GC_on_heap_resize_proc, on_heap_resize);
GC_SETTING(GC_on_collection_event_proc, on_collection_event);
GC_SETTING(GC_on_thread_event_proc, on_thread_event);
GC_SETTING(GC_finalizer_notifier_proc, finalizer_notifier);
GC_SETTING(GC_toggleref_func, toggleref_func);
GC_SETTING(GC_await_finalize_proc, await_finalize_proc);
GC_SETTING(GC_warn_proc, warn_proc);
GC_SETTING(GC_abort_func, abort_func);
GC_SETTING(GC_start_callback_proc, start_callback);
void GC_set_max_heap_size(GC_word);
void GC_set_markers_count(unsigned);
void GC_set_handle_fork(int);
void GC_set_log_fd(int);

/* ---- variables: data.c ---- */
extern int GC_all_interior_pointers, GC_dont_expand, GC_dont_gc, GC_dont_precollect, GC_finalize_on_demand;
extern int GC_find_leak, GC_full_freq, GC_gcj_debug_kind, GC_gcj_kind, GC_java_finalization, GC_no_dls;
extern int GC_parallel, GC_use_entire_heap;
extern GC_word GC_free_space_divisor, GC_gc_no, GC_max_retries, GC_non_gc_bytes;
extern unsigned long GC_time_limit;
extern void *GC_greatest_plausible_heap_addr, *GC_least_plausible_heap_addr;
extern char *GC_stackbottom;
extern GC_oom_func GC_oom_fn;
extern GC_on_heap_resize_proc GC_on_heap_resize;
extern GC_finalizer_notifier_proc GC_finalizer_notifier;
extern void (*GC_push_other_roots)(void);
extern void (*GC_on_abort)(const char *);
extern void (*GC_same_obj_print_proc)(void *, void *);
extern void (*GC_is_valid_displacement_print_proc)(void *);
extern void (*GC_is_visible_print_proc)(void *);
#ifndef GC_H
extern const size_t GC_debug_header_size;
#endif
extern void **const GC_objfreelist_ptr, **const GC_aobjfreelist_ptr, **const GC_uobjfreelist_ptr;
extern void **const GC_auobjfreelist_ptr;
extern char GC_arrays[182768];

#pragma GCC visibility pop

#endif
