/* report.c: when a process reports and where to. See report.h; report_render.c says what is
 * written.
 *
 * A report is put together on memory mapped for the purpose and leaves it in one write, so that
 * the reports of several processes do not mix. Where no memory can be mapped, a small page on the
 * stack and several writes have to do.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "report.h"
#include "files.h"
#include "report_page.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum {
    PAGE_BYTES = 64 << 10,     /* a JSON report with only numbers of 20 digits is under 30 KiB */
    SMALL_PAGE_BYTES = 512,
    NAME_BYTES = 64,
    COMMAND_BYTES = 512,
    DUPLICATE_FD = 500,        /* out of the way of programs that expect low numbers */
    WAIT_MS = 1000,            /* for a reader of a full non-blocking pipe, a report */
};

enum mode { MODE_NONE, MODE_TEXT, MODE_JSON };

/* What was known at the start. Written by granary_report_setup and after a fork. */
static struct {
    enum mode mode;
    int written;               /* this process has written its report */
    int stderr_open;           /* fd 2 was open at the start: the next three hold */
    int stderr_fd;             /* its duplicate, or -1 */
    dev_t stderr_device;
    ino_t stderr_inode;
    struct timespec start;
    size_t command_bytes;
    char command[COMMAND_BYTES]; /* as in /proc/self/cmdline: a NUL behind every argument */
    char name[NAME_BYTES];
    char file[PATH_MAX];       /* absolute, %p still in it; empty: stderr */
    char path[PATH_MAX];       /* the same for this process; set at the end */
} report;

/* ---- about the process ---- */

/* Reads the beginning of a file in /proc and returns how much. */
static size_t read_start(const char *path, char *bytes, size_t room) {
    int fd = file_open(path, O_RDONLY | O_CLOEXEC);
    size_t count = 0;
    if (fd < 0) return 0;
    while (count < room) {
        ssize_t part = file_read(fd, bytes + count, room - count);
        if (part < 0 && errno == EINTR) continue;
        if (part <= 0) break;
        count += (size_t)part;
    }
    file_close(fd);
    return count;
}

/* Copies the program's name: that in argv[0], else the kernel's. */
static void read_name(char name[NAME_BYTES]) {
    const char *given = program_invocation_short_name;
    if (given != NULL && given[0] != 0) {
        size_t count = strnlen(given, NAME_BYTES - 1);
        memcpy(name, given, count);
        name[count] = 0;
        return;
    }
    size_t count = read_start("/proc/self/comm", name, NAME_BYTES - 1);
    while (count > 0 && name[count - 1] == '\n') count--;
    name[count] = 0;
    if (count == 0) memcpy(name, "?", 2);
}

/* The most memory this program has had. VmHWM and not only getrusage: the latter keeps the peak
 * of what ran in the process before exec, such as the shell that was forked or `granary run`. */
static uint64_t peak_rss_bytes(const struct rusage *usage) {
    char status[1536];
    size_t count = read_start("/proc/self/status", status, sizeof status - 1);
    status[count] = 0;
    const char *at = strstr(status, "\nVmHWM:");
    uint64_t kib = 0;
    if (at == NULL) return (uint64_t)usage->ru_maxrss * 1024;
    for (at += 7; *at == ' ' || *at == '\t'; at++) continue;
    for (; *at >= '0' && *at <= '9'; at++) kib = kib * 10 + (uint64_t)(*at - '0');
    return kib * 1024;
}

static uint64_t timeval_us(struct timeval time) {
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_usec;
}

static void read_process(struct process *process) {
    struct rusage usage;
    struct timespec now;
    getrusage(RUSAGE_SELF, &usage);
    clock_gettime(CLOCK_MONOTONIC, &now);
    process->elapsed_us = (uint64_t)(now.tv_sec - report.start.tv_sec) * 1000000
                        + (uint64_t)now.tv_nsec / 1000 - (uint64_t)report.start.tv_nsec / 1000;
    process->user_us = timeval_us(usage.ru_utime);
    process->system_us = timeval_us(usage.ru_stime);
    process->peak_rss_bytes = peak_rss_bytes(&usage);
}

/* ---- writing ---- */

/* A write to a pipe that nobody reads, or beyond RLIMIT_FSIZE, must not kill a program that has
 * done its work: these signals are held back meanwhile, and dropped if the write raised them. */
struct held_signals {
    sigset_t before;
    sigset_t pending;
};

static const int held_numbers[] = {SIGPIPE, SIGXFSZ};

static void hold_signals(struct held_signals *held) {
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < 2; i++) sigaddset(&set, held_numbers[i]);
    sigpending(&held->pending);
    pthread_sigmask(SIG_BLOCK, &set, &held->before);
}

static void drop_signals(const struct held_signals *held) {
    sigset_t now;
    sigpending(&now);
    for (size_t i = 0; i < 2; i++) {
        const struct timespec no_time = {0, 0};
        sigset_t one;
        int number = held_numbers[i];
        if (!sigismember(&now, number) || sigismember(&held->pending, number)) continue;
        sigemptyset(&one);
        sigaddset(&one, number);
        while (sigtimedwait(&one, NULL, &no_time) < 0 && errno == EINTR) continue;
    }
    pthread_sigmask(SIG_SETMASK, &held->before, NULL);
}

static void put_report(struct page *page, int json, const granary_stats *stats) {
    struct process process = {.name = report.name, .command = report.command,
                              .command_bytes = report.command_bytes};
    char name[NAME_BYTES];
    char command[COMMAND_BYTES];
    if (report.name[0] == 0) { /* no report was asked for at the start */
        read_name(name);
        process.name = name;
        process.command = command;
        process.command_bytes = read_start("/proc/self/cmdline", command, sizeof command);
    }
    read_process(&process);
    granary_report_render(page, json, stats, &process);
}

int granary_report_write(int fd, int json, const granary_stats *stats) {
    char small[SMALL_PAGE_BYTES];
    struct held_signals held;
    struct page page = {.fd = fd, .wait_ms = WAIT_MS, .room = sizeof small, .bytes = small};
    void *large = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                       -1, 0);
    if (large != MAP_FAILED) {
        page.bytes = large;
        page.room = PAGE_BYTES;
    }
    hold_signals(&held);
    put_report(&page, json, stats);
    page_flush(&page);
    drop_signals(&held);
    if (large != MAP_FAILED) munmap(large, PAGE_BYTES);
    if (page.error == 0) return 0;
    errno = page.error;
    return -1;
}

/* Writes "granary: WHAT: WHY" to fd, in one write. */
static void complain(int fd, const char *what, const char *about, const char *why) {
    char small[SMALL_PAGE_BYTES];
    struct held_signals held;
    struct page page = {.fd = fd, .wait_ms = WAIT_MS, .room = sizeof small, .bytes = small};
    if (fd < 0) return;
    hold_signals(&held);
    put(&page, "granary: ");
    put(&page, what);
    put_visible(&page, about, strlen(about), SMALL_PAGE_BYTES / 2);
    put(&page, ": ");
    put(&page, why);
    put(&page, "\n");
    page_flush(&page);
    drop_signals(&held);
}

/* ---- where the report goes ---- */

/* Remembers what stderr is. Many programs close it before the library's turn comes at the end (all
 * of coreutils do), so a report that goes there needs a duplicate, numbered high enough not to be
 * met. */
static void keep_stderr(bool duplicate) {
    struct stat about;
    struct rlimit limit = {.rlim_cur = DUPLICATE_FD};
    report.stderr_fd = -1;
    if (fstat(2, &about) != 0) return;
    report.stderr_open = 1;
    report.stderr_device = about.st_dev;
    report.stderr_inode = about.st_ino;
    /* Where the limit leaves no room so high, a program could take the duplicate for one of its own. */
    getrlimit(RLIMIT_NOFILE, &limit);
    if (duplicate && limit.rlim_cur > DUPLICATE_FD) {
        report.stderr_fd = fcntl(2, F_DUPFD_CLOEXEC, DUPLICATE_FD);
    }
}

static int is_first_stderr(int fd) {
    struct stat about;
    return fd >= 0 && report.stderr_open && fstat(fd, &about) == 0
        && about.st_dev == report.stderr_device && about.st_ino == report.stderr_inode;
}

/* Returns a descriptor of what stderr was at the start, or -1. The program may have closed either
 * number and opened a file of its own under it, which must not get the report: hence the
 * comparison. */
static int first_stderr(void) {
    if (is_first_stderr(report.stderr_fd)) return report.stderr_fd;
    return is_first_stderr(2) ? 2 : -1;
}

/* Remembers the file, as an absolute path: the program may change its directory. Returns 0 or an
 * errno. */
static int keep_file(const char *file) {
    size_t used = 0;
    if (file[0] != '/') {
        /* Room for the slash is left; getcwd says ERANGE where the directory does not fit. */
        if (getcwd(report.file, sizeof report.file - 1) == NULL) {
            report.file[0] = 0;
            return errno == ERANGE ? ENAMETOOLONG : errno;
        }
        used = strlen(report.file);
        report.file[used++] = '/';
    }
    size_t length = strlen(file);
    if (used + length >= sizeof report.file) {
        report.file[0] = 0;
        return ENAMETOOLONG;
    }
    memcpy(report.file + used, file, length + 1);
    return 0;
}

/* Copies the file's name with %p replaced by the pid and %% by %. Returns 0 if it becomes too
 * long. */
static int expand_file(void) {
    char cell[CELL_BYTES];
    const char *pid = decimal(cell, (uint64_t)getpid(), 0);
    size_t used = 0;
    for (const char *at = report.file; *at != 0; at++) {
        const char *part = at;
        size_t length = 1;
        if (at[0] == '%' && at[1] == 'p') {
            part = pid;
            length = strlen(pid);
            at++;
        } else if (at[0] == '%' && at[1] == '%') {
            at++;
        }
        if (used + length >= PATH_MAX) return 0;
        memcpy(report.path + used, part, length);
        used += length;
    }
    report.path[used] = 0;
    return 1;
}

static const char *reason(int error) {
    const char *text = strerrordesc_np(error);
    return text != NULL ? text : "unknown error";
}

static void write_to_file(const granary_stats *stats) {
    if (!expand_file()) {
        complain(first_stderr(), "cannot write the usage report to ", report.file,
                 reason(ENAMETOOLONG));
        return;
    }
    /* Not blocking: a pipe without a reader must not keep the process from ending. */
    int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    int fd = file_open(report.path, flags);
    if (fd < 0 || granary_report_write(fd, report.mode == MODE_JSON, stats) != 0) {
        complain(first_stderr(), "cannot write the usage report to ", report.path,
                 reason(errno));
    }
    if (fd >= 0) file_close(fd);
}

/* ---- for the library's start and end ---- */

static enum mode parse_mode(const char *mode, const char *file) {
    int has_file = file != NULL && file[0] != 0;
    if (mode == NULL || mode[0] == 0) return has_file ? MODE_TEXT : MODE_NONE;
    if (strcmp(mode, "text") == 0) return MODE_TEXT;
    if (strcmp(mode, "json") == 0) return MODE_JSON;
    if (strcmp(mode, "none") != 0) {
        complain(2, "GRANARY_REPORT is ", mode,
                 "unknown, so there will be no usage report; use text, json or none");
    }
    return MODE_NONE;
}

void granary_report_setup(const char *mode, const char *file) {
    int saved = errno;
    clock_gettime(CLOCK_MONOTONIC, &report.start);
    report.mode = parse_mode(mode, file);
    if (report.mode != MODE_NONE) {
        read_name(report.name);
        report.command_bytes = read_start("/proc/self/cmdline", report.command,
                                          sizeof report.command);
        bool to_file = file != NULL && file[0] != 0;
        keep_stderr(!to_file);
        int error = to_file ? keep_file(file) : 0;
        if (error != 0) {
            complain(2, "no usage report can be written to ", file, reason(error));
            report.mode = MODE_NONE;
        }
    }
    errno = saved;
}

int granary_report_wanted(void) {
    return report.mode != MODE_NONE;
}

void granary_report_at_exit(const granary_stats *stats) {
    int saved = errno;
    if (report.mode == MODE_NONE || __atomic_exchange_n(&report.written, 1, __ATOMIC_ACQ_REL)) {
        return;
    }
    if (report.file[0] != 0) {
        write_to_file(stats);
    } else if (first_stderr() >= 0) {
        /* A failure has nowhere to be told. */
        (void)granary_report_write(first_stderr(), report.mode == MODE_JSON, stats);
    }
    errno = saved;
}

void granary_report_after_fork_child(void) {
    /* A daemon's children must not keep the pipe of whoever started it open. If stderr is still the
     * same when the child ends, its report goes there. */
    if (report.stderr_open && report.stderr_fd >= 0) { /* without a report the number is 0: stdin's */
        file_close(report.stderr_fd);
        report.stderr_fd = -1;
    }
    clock_gettime(CLOCK_MONOTONIC, &report.start);
    __atomic_store_n(&report.written, 0, __ATOMIC_RELEASE);
}
