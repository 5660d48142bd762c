/* What programs ask the malloc of glibc about itself, answered for Granary and the libc's share together. */
#include "core.h"
#include "report.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void *libc_function(void **kept, const char *name)
{
    if (*kept == NULL)
        *kept = granary_next_symbol(name, NULL);
    return *kept;
}

#define LIBC(name) ((__typeof__(&name))libc_function(&libc_##name, #name))
static void *libc_mallinfo2, *libc_malloc_trim, *libc_mallopt;

static void read_stats(granary_stats *stats)
{
    granary_start();
    core_read_stats(stats);
}

size_t core_guard_quarantine_bytes(void) CORE_GUARD("ProcessQuarantineBytes");

size_t core_guard_quarantine_large_bytes(void) CORE_GUARD("ProcessQuarantineLargeBytes");

static size_t used_bytes(const granary_stats *stats)
{
    size_t used = 0;
    for (int i = 0; i < GRANARY_CLASS_COUNT; i++)
        used += stats->classes[i].blocks * stats->classes[i].block_bytes;
    /* What the guard keeps from being reused is no longer the program's. */
    size_t quarantined = core_guard_quarantine_bytes();
    used = used > quarantined ? used - quarantined : 0;
    /* Other threads work meanwhile, so the figures need not fit each other. */
    return used < stats->span_bytes ? used : stats->span_bytes;
}

/* The libc's figures with Granary's added: arena and its parts count spans as the libc counts its arenas. */
EXPORT struct mallinfo2 mallinfo2(void)
{
    struct mallinfo2 info = LIBC(mallinfo2)();
    granary_stats stats;
    read_stats(&stats);
    size_t used = used_bytes(&stats);
    uint64_t runs[2];
    core_normal_runs(runs);
    size_t quarantined = core_guard_quarantine_large_bytes(); /* mappings, most of it */
    size_t mapped = quarantined < info.hblkhd ? quarantined : info.hblkhd;
    info.hblkhd -= mapped;
    info.uordblks -= quarantined - mapped < info.uordblks ? quarantined - mapped : info.uordblks;
    info.hblks += runs[0]; /* to the libc these would be mappings */
    info.hblkhd += runs[1];
    info.arena += stats.span_bytes;
    info.uordblks += used;
    info.fordblks += stats.span_bytes - used;
    size_t live = used + runs[1];
    info.keepcost += stats.resident_bytes > live ? stats.resident_bytes - live : 0;
    return info;
}

EXPORT struct mallinfo mallinfo(void)
{
    struct mallinfo2 wide = mallinfo2();
    struct mallinfo info = {
        .arena = (int)wide.arena,       .ordblks = (int)wide.ordblks,   .smblks = (int)wide.smblks,
        .hblks = (int)wide.hblks,       .hblkhd = (int)wide.hblkhd,     .usmblks = (int)wide.usmblks,
        .fsmblks = (int)wide.fsmblks,   .uordblks = (int)wide.uordblks, .fordblks = (int)wide.fordblks,
        .keepcost = (int)wide.keepcost,
    };
    return info;
}

/* Gives back all that is free now, the libc's part included. Returns 1 if memory was given back. */
EXPORT int malloc_trim(size_t pad)
{
    int libc = LIBC(malloc_trim)(pad);
    return granary_trim() != 0 || libc != 0;
}

/* The parameters concern the libc's allocator, which serves what the range does not. */
EXPORT int mallopt(int parameter, int value) { return LIBC(mallopt)(parameter, value); }

EXPORT void malloc_stats(void)
{
    granary_stats stats;
    read_stats(&stats);
    granary_report_write(STDERR_FILENO, 0, &stats);
}

/* The XML of glibc's malloc_info, version 1, with Granary's size classes as one heap. */
EXPORT int malloc_info(int options, FILE *stream)
{
    if (options != 0)
        return EINVAL;
    granary_stats stats;
    read_stats(&stats);
    size_t used = used_bytes(&stats);
    struct mallinfo2 libc = LIBC(mallinfo2)();
    uint64_t runs[2];
    core_normal_runs(runs);
    size_t free_bytes = stats.span_bytes - used;
    fprintf(stream, "<malloc version=\"1\">\n<heap nr=\"0\">\n<sizes>\n");
    for (int i = 0; i < GRANARY_CLASS_COUNT; i++) {
        const granary_class_stats *c = &stats.classes[i];
        size_t capacity = c->spans * (c->span_bytes / c->block_bytes);
        size_t count = capacity > c->blocks ? capacity - c->blocks : 0;
        if (c->spans != 0)
            fprintf(stream, "<size from=\"%u\" to=\"%u\" total=\"%zu\" count=\"%zu\"/>\n", c->block_bytes,
                    c->block_bytes, count * c->block_bytes, count);
    }
    fprintf(stream, "</sizes>\n<total type=\"fast\" count=\"0\" size=\"0\"/>\n");
    fprintf(stream, "<total type=\"rest\" count=\"1\" size=\"%zu\"/>\n", free_bytes);
    fprintf(stream, "<system type=\"current\" size=\"%zu\"/>\n", (size_t)stats.span_bytes);
    fprintf(stream, "<system type=\"max\" size=\"%zu\"/>\n</heap>\n", (size_t)stats.used_peak_bytes);
    fprintf(stream, "<total type=\"mmap\" count=\"%zu\" size=\"%zu\"/>\n", libc.hblks + runs[0],
            libc.hblkhd + runs[1]);
    fprintf(stream, "<system type=\"current\" size=\"%zu\"/>\n", (size_t)stats.span_bytes + libc.arena);
    fprintf(stream, "</malloc>\n");
    return 0;
}

EXPORT int granary_get_stats(granary_stats *stats, size_t bytes)
{
    granary_stats all;
    if (stats == NULL || bytes < offsetof(granary_stats, classes)) {
        errno = EINVAL;
        return -1;
    }
    read_stats(&all);
    memcpy(stats, &all, bytes < sizeof all ? bytes : sizeof all);
    return 0;
}

EXPORT int granary_report(int fd, const char *format)
{
    bool json = format != NULL && strcmp(format, "json") == 0;
    if (format == NULL || (!json && strcmp(format, "text") != 0)) {
        errno = EINVAL;
        return -1;
    }
    granary_stats stats;
    read_stats(&stats);
    return granary_report_write(fd, json, &stats);
}
