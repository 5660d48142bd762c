// A thread that waits in the kernel without a limit, or until a point in time, does not learn that it was stopped.
// library: gc
// only: granary
#include "check.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

static int pipes[2];
static sem_t semaphore;
static _Atomic int waiting, failures;

static void expect(const char *name, long got, long wanted)
{
    if (got != wanted) {
        fprintf(stderr, "%s: %ld (%s), expected %ld\n", name, got, strerror(errno), wanted);
        failures++;
    }
}

static void *in_poll(void *unused)
{
    struct pollfd one = {pipes[0], POLLIN, 0};
    GC_malloc(1);
    waiting++;
    expect("poll", poll(&one, 1, -1), 1);
    return unused;
}

static void *in_ppoll(void *unused)
{
    struct pollfd one = {pipes[0], POLLIN, 0};
    GC_malloc(1);
    waiting++;
    expect("ppoll", ppoll(&one, 1, NULL, NULL), 1);
    return unused;
}

static void *in_select(void *unused)
{
    fd_set set;
    FD_ZERO(&set);
    FD_SET(pipes[0], &set);
    GC_malloc(1);
    waiting++;
    expect("select", select(pipes[0] + 1, &set, NULL, NULL, NULL), 1);
    return unused;
}

static void *in_epoll(void *unused)
{
    int all = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN}, got;
    epoll_ctl(all, EPOLL_CTL_ADD, pipes[0], &event);
    GC_malloc(1);
    waiting++;
    expect("epoll_wait", epoll_wait(all, &got, 1, -1), 1);
    close(all);
    return unused;
}

static void *in_semaphore(void *unused)
{
    GC_malloc(1);
    waiting++;
    expect("sem_wait", sem_wait(&semaphore), 0);
    return unused;
}

static void *in_sleep(void *unused)
{
    GC_malloc(1);
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 300000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    waiting++;
    expect("clock_nanosleep", clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL), 0);
    struct timespec rest = {0, 200000000};
    expect("nanosleep", nanosleep(&rest, &rest), 0);
    expect("sleep", sleep(1), 0);
    return unused;
}

static void *in_read(void *unused)
{
    static int other[2];
    char byte;
    CHECK(pipe(other) == 0);
    GC_malloc(1);
    waiting++;
    struct pollfd one = {pipes[0], POLLIN, 0};
    expect("read", read(other[0], &byte, poll(&one, 1, -1) == 1 ? 0 : 1), 0);
    return unused;
}

int main(void)
{
    void *(*const calls[])(void *) = {in_poll, in_ppoll, in_select, in_epoll, in_semaphore, in_sleep, in_read};
    enum { CALLS = sizeof calls / sizeof calls[0] };
    pthread_t threads[CALLS];
    GC_INIT();
    CHECK(pipe(pipes) == 0 && sem_init(&semaphore, 0, 0) == 0);
    for (int i = 0; i < CALLS; i++)
        GC_pthread_create(&threads[i], NULL, calls[i], NULL);
    while (waiting < CALLS)
        usleep(100);
    for (int i = 0; i < 200; i++)
        GC_gcollect();
    CHECK(write(pipes[1], "x", 1) == 1);
    sem_post(&semaphore);
    for (int i = 0; i < CALLS; i++)
        pthread_join(threads[i], NULL);
    return failures != 0;
}
