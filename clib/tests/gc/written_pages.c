// Partial collections know what was written, whoever wrote it: the program, a system call, another process, the child
// of a fork, a program that has closed every descriptor, one whose first thread has ended, one whose bits another one
// clears.
// library: gc
// env: GC_ENABLE_INCREMENTAL=1
// also: GC_PAUSE_TIME_TARGET=1
// also: FORBID_USERFAULTFD=1
// only: granary
#include "check.h"
#include "without_userfaultfd.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OLD = 600, OBJECT_BYTES = 2000 };

struct object {
    struct object *young;
    long value;
    char room[OBJECT_BYTES - 2 * sizeof(long)];
};

typedef void write_fn(struct object **to, struct object *what);

static struct object **old; /* all on pages of their own, nearly */
static int queue[2];

static void plainly(struct object **to, struct object *what) { *to = what; }

static void by_system_call(struct object **to, struct object *what)
{
    CHECK(write(queue[1], &what, sizeof what) == sizeof what && read(queue[0], to, sizeof what) == sizeof what);
}

/* As a debugger does. */
static void from_outside(struct object **to, struct object *what)
{
    struct iovec here = {&what, sizeof what}, there = {to, sizeof what};
    CHECK(process_vm_writev(getpid(), &here, 1, &there, 1, 0) == sizeof what);
}

static void after_swapping_out(struct object **to, struct object *what)
{
    uintptr_t page = (uintptr_t)to & ~(uintptr_t)4095;
    *to = what;
#ifdef MADV_PAGEOUT
    madvise((void *)page, 4096, MADV_PAGEOUT); /* where there is swap */
#else
    (void)page;
#endif
}

static void churn(int collections)
{
    for (GC_word end = GC_get_gc_no() + (GC_word)collections; GC_get_gc_no() < end;)
        CHECK(GC_malloc(500) != NULL);
}

static void hang(write_fn *write_it, long value)
{
    for (long i = 0; i < OLD; i += 1 + value % 3) {
        struct object *young = GC_malloc(sizeof *young);
        young->value = value + i;
        write_it(&old[i]->young, young);
    }
}

static void look(long value)
{
    for (long i = 0; i < OLD; i += 1 + value % 3)
        CHECK(old[i]->young->value == value + i);
}

static void try(write_fn *write_it)
{
    static long value;
    for (int round = 0; round < 8; round++) {
        hang(write_it, value += 1000);
        churn(2);
        look(value);
    }
}

static void in_child(void)
{
    pid_t child = fork();
    if (child == 0) {
        try(plainly);
        try(by_system_call);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

/* Somebody else clears soft-dirty bits: what was written before must not be lost. */
static void clear_bits(void)
{
    int fd = open("/proc/thread-self/clear_refs", O_WRONLY);
    hang(plainly, 7);
    CHECK(fd < 0 || write(fd, "4", 1) == 1);
    churn(2);
    look(7);
    close(fd);
}

static void *rest(void *first)
{
    CHECK(pthread_join(*(pthread_t *)first, NULL) == 0);
    try(plainly);
    in_child();
    clear_bits();
    try(plainly);
    in_child();
    exit(0);
}

int main(void)
{
    static pthread_t first;
    pthread_t thread;
    if (getenv("FORBID_USERFAULTFD") != NULL)
        forbid_userfaultfd();
    GC_INIT();
    CHECK(pipe(queue) == 0);
    old = GC_malloc(OLD * sizeof *old);
    GC_add_roots(&old, &old + 1);
    for (long i = 0; i < OLD; i++)
        old[i] = GC_malloc(sizeof *old[i]);
    churn(3);
    try(plainly);
    try(by_system_call);
    try(from_outside);
    try(after_swapping_out);
    in_child();
    syscall(SYS_close_range, 3, 1000, 0);
    CHECK(pipe(queue) == 0);
    try(by_system_call);
    in_child();
    first = pthread_self();
    CHECK(pthread_create(&thread, NULL, rest, &first) == 0);
    pthread_exit(NULL);
}
