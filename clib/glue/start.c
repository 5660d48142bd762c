/* The start and the end of the process: what the environment asks for, fork, the report. */
#include "core.h"
#include "linear.h"
#include "once.h"
#include "report.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct granary_options granary_options = {.range_bytes = (size_t)16 << 30};

extern char **environ;
extern void *__libc_stack_end __attribute__((weak)); /* the loader's: where the kernel put argc */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso);

static pid_t process; /* whose report this is: a vfork child's exit is not ours */
static atomic_flag finished = ATOMIC_FLAG_INIT;

static char **environment(void)
{
    if (environ != NULL || &__libc_stack_end == NULL || __libc_stack_end == NULL)
        return environ;
    /* Before the libc is initialised, which is when the loader allocates for the first time. */
    long *stack = __libc_stack_end;
    return (char **)(stack + 1 + *stack + 1);
}

const char *granary_getenv(const char *name)
{
    char **all = environment();
    size_t length = strlen(name);
    for (; all != NULL && *all != NULL; all++)
        if (strncmp(*all, name, length) == 0 && (*all)[length] == '=')
            return *all + length + 1;
    return NULL;
}

/* A switch. A value that is none is reported and ignored. */
static bool is_on(const char *name, bool otherwise)
{
    static const char *const words[] = {"0", "1", "no", "yes", "false", "true", "off", "on"};
    const char *value = granary_getenv(name);
    if (value == NULL || *value == '\0')
        return otherwise;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(value, words[i]) == 0)
            return (i & 1) != 0;
    granary_message("granary: %s=%s is neither 1 nor 0; ignored\n", name, value);
    return otherwise;
}

/* A number of bytes with an optional K, M or G. A value that is none is reported and ignored. */
static size_t bytes_of(const char *name, size_t otherwise)
{
    const char *value = granary_getenv(name);
    if (value == NULL || *value == '\0')
        return otherwise;
    size_t bytes = 0;
    const char *at = value;
    for (; *at >= '0' && *at <= '9' && bytes < SIZE_MAX / 16; at++)
        bytes = bytes * 10 + (size_t)(*at - '0');
    unsigned shift = 0;
    if (*at == 'K' || *at == 'k')
        shift = 10;
    else if (*at == 'M' || *at == 'm')
        shift = 20;
    else if (*at == 'G' || *at == 'g')
        shift = 30;
    if (at == value || (shift != 0 && *++at != '\0') || *at != '\0' || bytes > SIZE_MAX >> shift) {
        granary_message("granary: %s=%s is not a number of bytes (digits, then K, M or G if you like); ignored\n",
                        name, value);
        return otherwise;
    }
    return bytes << shift;
}

static void read_options(void)
{
    struct granary_options *o = &granary_options;
    o->verbose = is_on("GRANARY_VERBOSE", false);
    o->guard = is_on("GRANARY_DEBUG_ALLOC", false);
    o->count_leaks = is_on("GRANARY_DEBUG_ALLOC_STATS", false);
    o->trace_release = is_on("GRANARY_DEBUG_ALLOC_RELEASE", false);
    o->limit = bytes_of("GRANARY_ALLOC_LIMIT", 0);
    o->range_bytes = bytes_of("GRANARY_RANGE", o->range_bytes);
    if (!is_on("GRANARY_ALLOC_RELEASE", true))
        o->mode |= MODE_KEEP_SPANS;
    const char *normal = granary_getenv("GRANARY_ALLOC_NORMAL");
    if (normal != NULL && strcmp(normal, "system") == 0)
        o->mode |= MODE_NORMAL_SYSTEM;
    else if (normal != NULL && *normal != '\0')
        granary_message("granary: GRANARY_ALLOC_NORMAL=%s is not system; ignored\n", normal);
    if (is_on("GRANARY_ALLOC_SYSTEM", false))
        o->mode |= MODE_SYSTEM;
    else if (o->guard || o->count_leaks)
        o->mode |= MODE_GUARD | MODE_NORMAL_SYSTEM; /* the guard has large blocks of the libc's */
}

/* Children start without the preload if the user wants that: our name is taken out of LD_PRELOAD. */
static void keep_from_children(void)
{
    char *preload = (char *)granary_getenv("LD_PRELOAD");
    if (is_on("GRANARY_CHILDREN", true) || preload == NULL)
        return;
    char *to = preload;
    for (char *at = preload; *at != '\0';) {
        size_t length = strcspn(at, ": ");
        char *slash = memrchr(at, '/', length);
        char *base = slash == NULL ? at : slash + 1;
        size_t rest = (size_t)(at + length - base);
        bool ours = rest >= strlen("libgranary.so") && strncmp(base, "libgranary.so", strlen("libgranary.so")) == 0;
        bool more = at[length] != '\0';
        if (!ours) {
            memmove(to, at, length + more);
            to += length + more;
        }
        at += length + more;
    }
    *to = '\0';
}

static void fork_prepare(void)
{
    granary_linear_fork_prepare();
    granary_guard_fork_prepare();
    core_fork_prepare();
}

static void fork_parent(void)
{
    core_fork_parent();
    granary_guard_fork_parent();
    granary_linear_fork_parent();
}

static void fork_child(void)
{
    core_fork_child();
    granary_guard_fork_child();
    granary_linear_fork_child();
    process = getpid();
    atomic_flag_clear(&finished); /* the parent may be at its end */
    granary_report_after_fork_child();
}

void granary_start(void)
{
    static struct granary_once once;
    if (!granary_once_begin(&once))
        return;
    int saved = errno;
    read_options();
    granary_thread_start();
    granary_options.started = true;
    granary_once_done(&once);
    granary_system_start();
    process = getpid();
    __register_atfork(fork_prepare, fork_parent, fork_child, NULL);
    granary_report_setup(granary_getenv("GRANARY_REPORT"), granary_getenv("GRANARY_REPORT_FILE"));
    if (granary_options.verbose)
        granary_message("granary: %s in pid %d (%s)\n", GRANARY_VERSION, (int)process,
                        program_invocation_short_name != NULL ? program_invocation_short_name : "?");
    keep_from_children();
    granary_guard_start();
    errno = saved;
}

__attribute__((constructor(101))) static void at_load(void) { granary_start(); }

static bool is_finish_wanted(void)
{
    return granary_options.started &&
           (granary_report_wanted() || (granary_options.mode & MODE_GUARD) != 0);
}

/* Once a process, by whoever ends it first: another thread's _exit does not wait for it. */
static void finish(void)
{
    if (atomic_flag_test_and_set(&finished))
        return;
    granary_guard_at_exit();
    if (granary_report_wanted()) {
        static granary_stats stats;
        core_read_stats(&stats);
        granary_report_at_exit(&stats);
    }
}

__attribute__((destructor(101))) static void at_exit(void)
{
    if (is_finish_wanted())
        finish();
}

/* A process that ends by _exit runs no destructors; its report is printed all the same. The child of
 * a vfork ends this way too: it has its parent's memory, and the report is its parent's. */
EXPORT _Noreturn void _exit(int status)
{
    if (is_finish_wanted() && process == getpid())
        finish();
    for (;;)
        syscall(SYS_exit_group, status);
}

EXPORT _Noreturn void _Exit(int status) { _exit(status); }

EXPORT const char *granary_version(void) { return GRANARY_VERSION; }
