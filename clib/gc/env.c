/* What the environment asks for. The variables are bdwgc's; docs/libgc.md has the table. */
#include "collector.h"
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct gc_options granary_gc_options = {.log_fd = STDERR_FILENO};

static const char *value_of(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && *value != '\0' ? value : NULL;
}

/* As in bdwgc: set is on, whatever the value, but for 0 where that says off. */
static bool is_on(const char *name)
{
    const char *value = value_of(name);
    return value != NULL && strcmp(value, "0") != 0;
}

static void say_wrong(const char *name, const char *value, const char *wanted)
{
    granary_message("granary: %s=%s is not %s; ignored\n", name, value, wanted);
}

/* A number of bytes with an optional k, M or G. */
static size_t bytes_of(const char *name)
{
    const char *value = value_of(name);
    if (value == NULL)
        return 0;
    char *end;
    errno = 0;
    unsigned long long bytes = strtoull(value, &end, 10);
    unsigned shift = 0;
    if (*end == 'k' || *end == 'K')
        shift = 10;
    else if (*end == 'm' || *end == 'M')
        shift = 20;
    else if (*end == 'g' || *end == 'G')
        shift = 30;
    if (errno != 0 || end == value || *value == '-' || (shift != 0 && *++end != '\0') || *end != '\0'
        || bytes > SIZE_MAX >> shift) {
        say_wrong(name, value, "a number of bytes (digits, then k, M or G if you like)");
        return 0;
    }
    return (size_t)bytes << shift;
}

static unsigned long number_of(const char *name, unsigned long least, unsigned long otherwise)
{
    const char *value = value_of(name);
    if (value == NULL)
        return otherwise;
    char *end;
    errno = 0;
    unsigned long number = strtoul(value, &end, 10);
    if (errno != 0 || end == value || *end != '\0' || *value == '-' || number < least) {
        say_wrong(name, value, "a number that fits");
        return otherwise;
    }
    return number;
}

static void read_log_file(void)
{
    const char *file = value_of("GC_LOG_FILE");
    if (file == NULL)
        return;
    int fd = file_open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC);
    if (fd < 0)
        granary_message("granary: GC_LOG_FILE=%s cannot be written: %s\n", file, strerror(errno));
    else
        granary_gc_options.log_fd = file_out_of_the_way(fd);
}

static void read_markers(struct gc_options *options)
{
    unsigned long processors = number_of("GC_NPROCS", 1, 0);
    unsigned long markers = number_of("GC_MARKERS", 1, processors);
    if (markers != 0)
        options->markers = (unsigned)markers;
}

void granary_gc_read_environment(void)
{
    struct gc_options *options = &granary_gc_options;
    read_log_file();
    options->print_more = is_on("GC_PRINT_VERBOSE_STATS");
    options->print_stats = options->print_more || is_on("GC_PRINT_STATS");
    options->initial_bytes = bytes_of("GC_INITIAL_HEAP_SIZE");
    size_t limit = bytes_of("GC_MAXIMUM_HEAP_SIZE");
    if (limit != 0)
        options->limit_bytes = limit;
    read_markers(options);
    GC_free_space_divisor = number_of("GC_FREE_SPACE_DIVISOR", 1, GC_free_space_divisor);
    GC_full_freq = (int)number_of("GC_FULL_FREQUENCY", 0, (unsigned long)GC_full_freq);
    GC_time_limit = number_of("GC_PAUSE_TIME_TARGET", 1, GC_time_limit);
    options->incremental = options->incremental || is_on("GC_ENABLE_INCREMENTAL");
    options->verbose = is_on("GRANARY_VERBOSE");
    options->verify = is_on("GRANARY_GC_VERIFY");
    options->keep_blocks = value_of("GC_UNMAP_THRESHOLD") != NULL && number_of("GC_UNMAP_THRESHOLD", 0, 1) == 0;
    options->aborts_loop = is_on("GC_LOOP_ON_ABORT");
    if (is_on("GC_DONT_GC"))
        GC_dont_gc = 1;
    if (is_on("GC_FIND_LEAK"))
        GC_find_leak = 1;
    if (is_on("GC_USE_ENTIRE_HEAP"))
        GC_use_entire_heap = 1;
    if (is_on("GC_FORCE_UNMAP_ON_GCOLLECT"))
        GC_set_force_unmap_on_gcollect(1);
    const char *interior = value_of("GC_ALL_INTERIOR_POINTERS");
    if (interior != NULL)
        GC_all_interior_pointers = strcmp(interior, "0") != 0;
}
