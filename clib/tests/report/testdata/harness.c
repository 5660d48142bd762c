/* harness.c: drives the usage report as the library does, one step an argument, with made-up figures.
 *
 *   stats=typical|zero|huge   which figures the report is made of
 *   setup                     as the library's start, with GRANARY_REPORT and GRANARY_REPORT_FILE
 *   at-exit                   as the library's end
 *   write=FD,text|json        as granary_report(FD, ...); the exit status is its errno
 *   close=FD  open=PATH  chdir=PATH  nonblock=FD  name=TEXT
 *   limit-files=N  limit-file-bytes=N  limit-memory=N
 *   fork                      the child does the rest, and the parent only at-exit
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static granary_stats stats;

const char *granary_version(void) {
    return "9.8.7";
}

static void set_class(int index, uint32_t block_bytes, uint32_t span_bytes, uint64_t mallocs) {
    granary_class_stats *class = &stats.classes[index];
    class->block_bytes = block_bytes;
    class->span_bytes = span_bytes;
    class->mallocs = mallocs;
    if (mallocs == 0) return;
    class->asked_bytes = mallocs * (block_bytes - block_bytes / 8);
    class->blocks = mallocs / 10;
    class->blocks_peak = mallocs / 2;
    class->blocks_cached = 64;
    class->batches_in = 12;
    class->batches_out = 10;
    class->spans = mallocs / 1000 + 1;
    class->spans_peak = class->spans + 1;
    class->spans_taken = class->spans + 7;
}

static void set_typical(void) {
    static const uint32_t tiny[] = {16, 32, 48, 64, 128, 160, 1024, 2048};
    static const uint32_t small[] = {2560, 4096, 32768};
    for (int i = 0; i < 8; i++) {
        set_class(i, tiny[i], 65536, i == 3 ? 0 : 1234567 >> (2 * i));
    }
    for (int i = 0; i < 3; i++) set_class(8 + i, small[i], 262144, 900 >> i);
    stats.class_count = 11;
    stats.range_bytes = 16ULL << 30;
    stats.used_peak_bytes = 90 << 20;
    stats.span_bytes = 83 << 20;
    stats.resident_bytes = 80 << 20;
    stats.resident_peak_bytes = 85 << 20;
    stats.metadata_bytes = 160 << 10;
    stats.spans_released = 17;
    stats.released_bytes = 17 << 16;
    stats.sweeps = 4;
    stats.thread_caches = 2;
    stats.thread_caches_peak = 9;
    stats.normal_mallocs = 1200;
    stats.normal_frees = 1100;
    stats.normal_bytes = 300 << 20;
    stats.normal_live_bytes = 25 << 20;
    stats.overflow_mallocs = 3;
    stats.limit_failures = 5;
    stats.limit_bytes = 512 << 20;
}

static void set_stats(const char *which) {
    memset(&stats, 0, sizeof stats);
    stats.version = GRANARY_STATS_VERSION;
    stats.class_count = GRANARY_CLASS_COUNT;
    if (strcmp(which, "typical") == 0) set_typical();
    if (strcmp(which, "huge") == 0) {
        memset(&stats, 0xFF, sizeof stats);
        for (int i = 0; i < GRANARY_CLASS_COUNT; i++) {
            stats.classes[i].block_bytes = i < 24 ? 2048 : 32768;
        }
    }
}

static void set_limit(int resource, const char *value) {
    struct rlimit limit;
    getrlimit(resource, &limit);
    limit.rlim_cur = strtoull(value, NULL, 10);
    if (setrlimit(resource, &limit) != 0) exit(90);
}

static void write_report(const char *how) {
    char *rest;
    int fd = (int)strtol(how, &rest, 10);
    if (granary_report_write(fd, strcmp(rest, ",json") == 0, &stats) != 0) exit(errno);
}

static void fork_and_go_on(void) {
    int status = 0;
    pid_t child = fork();
    if (child < 0) exit(91);
    if (child == 0) {
        granary_report_after_fork_child();
        return;
    }
    waitpid(child, &status, 0);
    granary_report_at_exit(&stats);
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 92);
}

static void set_name(const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "/somewhere/%s", name);
    program_invocation_short_name = path + strlen("/somewhere/");
}

static void change_directory(const char *path) {
    if (chdir(path) != 0) exit(93);
}

static void open_file(const char *path) {
    if (open(path, O_RDWR | O_CREAT, 0666) < 0) exit(94);
}

static void step(const char *name, const char *value) {
    if (strcmp(name, "stats") == 0) set_stats(value);
    else if (strcmp(name, "chdir") == 0) change_directory(value);
    else if (strcmp(name, "name") == 0) set_name(value);
    else if (strcmp(name, "at-exit") == 0) granary_report_at_exit(&stats);
    else if (strcmp(name, "write") == 0) write_report(value);
    else if (strcmp(name, "close") == 0) close(atoi(value));
    else if (strcmp(name, "fork") == 0) fork_and_go_on();
    else if (strcmp(name, "limit-files") == 0) set_limit(RLIMIT_NOFILE, value);
    else if (strcmp(name, "limit-file-bytes") == 0) set_limit(RLIMIT_FSIZE, value);
    else if (strcmp(name, "limit-memory") == 0) set_limit(RLIMIT_AS, value);
    else if (strcmp(name, "nonblock") == 0) fcntl(atoi(value), F_SETFL, O_NONBLOCK);
    else if (strcmp(name, "open") == 0) open_file(value);
    else if (strcmp(name, "setup") == 0) {
        granary_report_setup(getenv("GRANARY_REPORT"), getenv("GRANARY_REPORT_FILE"));
    } else {
        exit(95);
    }
}

int main(int count, char **arguments) {
    for (int i = 1; i < count; i++) {
        char name[32] = "";
        char *equals = strchr(arguments[i], '=');
        size_t length = equals != NULL ? (size_t)(equals - arguments[i]) : strlen(arguments[i]);
        if (length >= sizeof name) return 95;
        memcpy(name, arguments[i], length);
        step(name, equals != NULL ? equals + 1 : "");
    }
    return 0;
}
