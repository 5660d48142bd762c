// Spans come back in every call where a program waits; each call is tried in a process of its own,
// which reads what GRANARY_DEBUG_ALLOC_RELEASE=1 prints there.
// covers: 24
// only: granary
// link: {granary}
// env: GRANARY_DEBUG_ALLOC_RELEASE=1
#include "test.h"
#include "granary.h"
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/select.h>

enum { BLOCKS = 20000, BLOCK_BYTES = 1000, STEP_MS = 300, STEPS = 6 };

static struct timespec in_ms(clockid_t clock, int milliseconds)
{
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_nsec += milliseconds * 1000000L;
    time.tv_sec += time.tv_nsec / 1000000000L;
    time.tv_nsec %= 1000000000L;
    return time;
}

static void by_poll(void) { poll(NULL, 0, STEP_MS); }
static void by_ppoll(void)
{
    struct timespec time = {0, STEP_MS * 1000000L};
    ppoll(NULL, 0, &time, NULL);
}
static void by_select(void)
{
    struct timeval time = {0, STEP_MS * 1000};
    select(0, NULL, NULL, NULL, &time);
}
static void by_pselect(void)
{
    struct timespec time = {0, STEP_MS * 1000000L};
    pselect(0, NULL, NULL, NULL, &time, NULL);
}
static int epoll_fd;
static void by_epoll_wait(void)
{
    struct epoll_event event;
    epoll_wait(epoll_fd, &event, 1, STEP_MS);
}
static void by_epoll_pwait(void)
{
    struct epoll_event event;
    epoll_pwait(epoll_fd, &event, 1, STEP_MS, NULL);
}
static void by_nanosleep(void)
{
    struct timespec time = {0, STEP_MS * 1000000L};
    nanosleep(&time, NULL);
}
static void by_clock_nanosleep(void)
{
    struct timespec time = {0, STEP_MS * 1000000L};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}
static void by_usleep(void) { usleep(STEP_MS * 1000); }
static void by_sleep(void) { sleep(1); }
static void by_cond_timedwait(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    struct timespec time = in_ms(CLOCK_REALTIME, STEP_MS);
    pthread_mutex_lock(&lock);
    CHECKED(pthread_cond_timedwait(&never, &lock, &time) == ETIMEDOUT);
    pthread_mutex_unlock(&lock);
}
static void by_cond_clockwait(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    struct timespec time = in_ms(CLOCK_MONOTONIC, STEP_MS);
    pthread_mutex_lock(&lock);
    CHECKED(pthread_cond_clockwait(&never, &lock, CLOCK_MONOTONIC, &time) == ETIMEDOUT);
    pthread_mutex_unlock(&lock);
}
static void by_sem_timedwait(void)
{
    static sem_t never;
    struct timespec time = in_ms(CLOCK_REALTIME, STEP_MS);
    CHECKED(sem_timedwait(&never, &time) == -1 && errno == ETIMEDOUT);
}
static void by_granary_idle(void)
{
    // This thread waits in a way that Granary does not see.
    int64_t end = now_ms() + STEP_MS;
    while (now_ms() < end)
        sched_yield();
    granary_idle();
}

static const struct { const char *name; void (*step)(void); } ways[] = {
    {"poll", by_poll}, {"ppoll", by_ppoll}, {"select", by_select}, {"pselect", by_pselect},
    {"epoll_wait", by_epoll_wait}, {"epoll_pwait", by_epoll_pwait}, {"nanosleep", by_nanosleep},
    {"clock_nanosleep", by_clock_nanosleep}, {"usleep", by_usleep}, {"sleep", by_sleep},
    {"pthread_cond_timedwait", by_cond_timedwait}, {"pthread_cond_clockwait", by_cond_clockwait},
    {"sem_timedwait", by_sem_timedwait}, {"granary_idle", by_granary_idle},
};
enum { WAYS = sizeof ways / sizeof *ways };

static void child(size_t way, int err)
{
    static void *blocks[BLOCKS];
    dup2(err, 2);
    epoll_fd = epoll_create1(0);
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(BLOCK_BYTES);
        memset(blocks[i], 1, BLOCK_BYTES);
    }
    for (size_t i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    for (int step = 0; step < STEPS; step++)
        ways[way].step();
    size_t rss = rss_bytes();
    CHECK(rss < (size_t)BLOCKS * BLOCK_BYTES / 2, "%zu KiB still in memory", rss / KIB);
    _exit(0);
}

int main(void)
{
    pid_t pids[WAYS];
    int ends[WAYS][2];
    for (size_t way = 0; way < WAYS; way++) {
        CHECKED(pipe(ends[way]) == 0);
        pids[way] = fork();
        if (pids[way] == 0)
            child(way, ends[way][1]);
        close(ends[way][1]);
    }
    for (size_t way = 0; way < WAYS; way++) {
        char text[8192];
        size_t length = 0;
        ssize_t got;
        while ((got = read(ends[way][0], text + length, sizeof text - 1 - length)) > 0)
            length += (size_t)got;
        text[length] = 0;
        int status = wait_child(pids[way]);
        CHECK(status == 0, "%s: %s", ways[way].name, text);
        CHECK(strncmp(text, "granary: ", 9) == 0 && strstr(text, "span"),
              "%s: no line of a sweep, but '%s'", ways[way].name, text);
    }
    return 0;
}
