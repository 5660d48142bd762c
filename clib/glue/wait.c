/* Where a program waits, Granary looks for memory to give back. The functions here have the names of the libc's and
 * wait as they do; while there is memory that will soon be old enough, they wait in pieces, so that a process that
 * goes to sleep for an hour right after it freed everything holds nothing after a second. A wait that ends early
 * by a signal or an event ends so here, whatever the piece. When nothing is left to give back the wait is one call. */
#include "core.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

enum { SECOND = 1000000000 };
static const uint64_t RELEASE_AGE = SECOND;

/* The libc's function, looked up at its first use. */
#define NEXT(name, version)                                                                                       \
    ({                                                                                                            \
        static void *kept;                                                                                        \
        void *found = __atomic_load_n(&kept, __ATOMIC_RELAXED);                                                   \
        if (UNLIKELY(found == NULL)) {                                                                            \
            found = granary_next_symbol(#name, version);                                                          \
            __atomic_store_n(&kept, found, __ATOMIC_RELAXED);                                                     \
        }                                                                                                         \
        (__typeof__(&name))found;                                                                                 \
    })

static size_t sweep(uint64_t now, uint64_t age, uint64_t *wake)
{
    struct granary_idle_result result = {0};
    int saved = errno;
    core_idle(now, age, &result);
    errno = saved;
    *wake = result.wake;
    if (result.runs != 0 && granary_options.trace_release)
        granary_message("granary: release: %llu spans (%llu bytes) given back at %llu.%03llu s, the longest empty "
                        "for %llu.%03llu s\n",
                        (unsigned long long)result.runs, (unsigned long long)result.bytes,
                        (unsigned long long)(now / SECOND), (unsigned long long)(now % SECOND / 1000000),
                        (unsigned long long)(result.longest / SECOND),
                        (unsigned long long)(result.longest % SECOND / 1000000));
    return result.bytes;
}

/* Sweeps if it is time. Returns the nanoseconds after which to look again, 0: not necessary. */
static uint64_t look(void)
{
    if (!granary_options.started || (granary_options.mode & ~0u) != 0)
        return 0;
    uint64_t wake, now = granary_sys_now();
    sweep(now, RELEASE_AGE, &wake);
    if (wake == 0)
        return 0;
    return wake > now ? wake - now : 1;
}

EXPORT size_t granary_idle(void)
{
    uint64_t wake;
    if (!granary_options.started)
        return 0;
    return sweep(granary_sys_now(), RELEASE_AGE, &wake);
}

EXPORT size_t granary_trim(void)
{
    uint64_t wake;
    if (!granary_options.started)
        return 0;
    return sweep(granary_sys_now(), 0, &wake);
}

static struct timespec to_timespec(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND)};
}

static bool is_time(const struct timespec *t) { return t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < SECOND; }

/* Nanoseconds, or UINT64_MAX for anything beyond five hundred years. */
static uint64_t to_ns(const struct timespec *t)
{
    return t->tv_sec > INT64_MAX / SECOND - 1 ? UINT64_MAX : (uint64_t)t->tv_sec * SECOND + (uint64_t)t->tv_nsec;
}

/* A piece in whole milliseconds for poll and epoll_wait, or -1: the rest is shorter, or there is nothing to do. */
static int piece_ms(int timeout, uint64_t started)
{
    uint64_t piece = look();
    if (piece == 0)
        return -1;
    int ms = (int)(piece / 1000000) + 1;
    if (timeout < 0)
        return ms;
    uint64_t gone = (granary_sys_now() - started) / 1000000;
    return gone + (uint64_t)ms < (uint64_t)timeout ? ms : -1;
}

static int rest_ms(int timeout, uint64_t started)
{
    if (timeout < 0)
        return timeout;
    uint64_t gone = (granary_sys_now() - started) / 1000000;
    return gone < (uint64_t)timeout ? timeout - (int)gone : 0;
}

/* One wait in pieces: CALL(ms) makes the libc's call with a timeout in milliseconds. */
#define WAIT_MS(timeout, CALL)                                                                                    \
    do {                                                                                                          \
        if ((timeout) == 0)                                                                                       \
            return CALL(0);                                                                                       \
        uint64_t started = granary_sys_now();                                                                     \
        bool first = true;                                                                                        \
        for (int ms; (ms = piece_ms(timeout, started)) >= 0; first = false) {                                     \
            int result = CALL(ms);                                                                                \
            if (result != 0)                                                                                      \
                return result;                                                                                    \
        }                                                                                                         \
        return CALL(first ? (timeout) : rest_ms(timeout, started));                                               \
    } while (0)

EXPORT int poll(struct pollfd *fds, nfds_t count, int timeout)
{
#define CALL(ms) NEXT(poll, NULL)(fds, count, ms)
    WAIT_MS(timeout, CALL);
#undef CALL
}

EXPORT int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout)
{
#define CALL(ms) NEXT(epoll_wait, NULL)(epoll, events, most, ms)
    WAIT_MS(timeout, CALL);
#undef CALL
}

EXPORT int epoll_pwait(int epoll, struct epoll_event *events, int most, int timeout, const sigset_t *mask)
{
#define CALL(ms) NEXT(epoll_pwait, NULL)(epoll, events, most, ms, mask)
    WAIT_MS(timeout, CALL);
#undef CALL
}

/* One wait in pieces with a relative timespec: *rest is what is left of the timeout (UINT64_MAX: for ever). Returns
 * true with *piece to wait for, or false: wait for the rest. */
static bool next_piece(uint64_t rest, uint64_t *piece)
{
    *piece = look();
    return *piece != 0 && *piece < rest;
}

static uint64_t left_of(uint64_t total, uint64_t started)
{
    uint64_t gone = granary_sys_now() - started;
    return total == UINT64_MAX ? total : gone < total ? total - gone : 0;
}

#define WAIT_NS(total, CALL, whole)                                                                               \
    do {                                                                                                          \
        uint64_t started = granary_sys_now(), rest = (total), piece;                                              \
        if (rest == 0 || !next_piece(rest, &piece))                                                               \
            return CALL(whole);                                                                                   \
        do {                                                                                                      \
            struct timespec wait = to_timespec(piece);                                                            \
            int result = CALL(&wait);                                                                             \
            if (result != 0)                                                                                      \
                return result;                                                                                    \
            rest = left_of(total, started);                                                                       \
        } while (next_piece(rest, &piece));                                                                       \
        struct timespec wait = to_timespec(rest);                                                                 \
        return CALL(rest == UINT64_MAX ? NULL : &wait);                                                           \
    } while (0)

EXPORT int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
#define CALL(wait) NEXT(ppoll, NULL)(fds, count, wait, mask)
    if (timeout != NULL && !is_time(timeout))
        return CALL(timeout);
    uint64_t total = timeout == NULL ? UINT64_MAX : to_ns(timeout);
    WAIT_NS(total, CALL, timeout);
#undef CALL
}

EXPORT int epoll_pwait2(int epoll, struct epoll_event *events, int most, const struct timespec *timeout,
                        const sigset_t *mask)
{
#define CALL(wait) NEXT(epoll_pwait2, NULL)(epoll, events, most, wait, mask)
    if (timeout != NULL && !is_time(timeout))
        return CALL(timeout);
    uint64_t total = timeout == NULL ? UINT64_MAX : to_ns(timeout);
    WAIT_NS(total, CALL, timeout);
#undef CALL
}

/* select clears the sets when the time is up, so every piece starts from what the caller gave. */
struct sets {
    fd_set *caller[3];
    fd_set kept[3];
    size_t bytes;
};

static void keep_sets(struct sets *s, int count, fd_set *in, fd_set *out, fd_set *bad)
{
    s->caller[0] = in;
    s->caller[1] = out;
    s->caller[2] = bad;
    s->bytes = ((size_t)count + 63) / 64 * 8;
    for (int i = 0; i < 3; i++)
        if (s->caller[i] != NULL)
            memcpy(&s->kept[i], s->caller[i], s->bytes);
}

static void give_sets(struct sets *s)
{
    for (int i = 0; i < 3; i++)
        if (s->caller[i] != NULL)
            memcpy(s->caller[i], &s->kept[i], s->bytes);
}

EXPORT int pselect(int count, fd_set *in, fd_set *out, fd_set *bad, const struct timespec *timeout,
                   const sigset_t *mask)
{
#define CALL(wait) (give_sets(&sets), NEXT(pselect, NULL)(count, in, out, bad, wait, mask))
    if (count < 0 || count > FD_SETSIZE || (timeout != NULL && !is_time(timeout)))
        return NEXT(pselect, NULL)(count, in, out, bad, timeout, mask);
    struct sets sets;
    keep_sets(&sets, count, in, out, bad);
    uint64_t total = timeout == NULL ? UINT64_MAX : to_ns(timeout);
    WAIT_NS(total, CALL, timeout);
#undef CALL
}

/* Linux's select leaves the time that was not waited in *timeout. */
EXPORT int select(int count, fd_set *in, fd_set *out, fd_set *bad, struct timeval *timeout)
{
    uint64_t piece, started = granary_sys_now();
    bool odd = count < 0 || count > FD_SETSIZE ||
               (timeout != NULL && (timeout->tv_sec < 0 || timeout->tv_usec < 0 || timeout->tv_sec > INT64_MAX / SECOND));
    uint64_t total = timeout == NULL ? UINT64_MAX
                     : odd           ? 0
                                     : (uint64_t)timeout->tv_sec * SECOND + (uint64_t)timeout->tv_usec * 1000;
    uint64_t rest = total;
    if (odd || total == 0 || !next_piece(rest, &piece))
        return NEXT(select, NULL)(count, in, out, bad, timeout);
    struct sets sets;
    keep_sets(&sets, count, in, out, bad);
    int result = 0;
    do {
        struct timeval wait = {.tv_sec = (time_t)(piece / SECOND), .tv_usec = (long)(piece % SECOND / 1000) + 1};
        give_sets(&sets);
        result = NEXT(select, NULL)(count, in, out, bad, &wait);
        rest = left_of(total, started);
    } while (result == 0 && next_piece(rest, &piece));
    if (result == 0) {
        give_sets(&sets);
        struct timeval wait = {.tv_sec = (time_t)(rest / SECOND), .tv_usec = (long)(rest % SECOND / 1000)};
        result = NEXT(select, NULL)(count, in, out, bad, timeout == NULL ? NULL : &wait);
        rest = left_of(total, started);
    }
    if (timeout != NULL)
        *timeout = (struct timeval){.tv_sec = (time_t)(rest / SECOND), .tv_usec = (long)(rest % SECOND / 1000)};
    return result;
}

/* Sleeps for total; after a signal returns -1 with errno EINTR and *rest set. */
static int sleep_ns(uint64_t total, uint64_t *rest)
{
    uint64_t piece, started = granary_sys_now();
    *rest = total;
    while (*rest != 0) {
        if (!next_piece(*rest, &piece))
            piece = *rest;
        struct timespec wait = to_timespec(piece);
        int result = NEXT(nanosleep, NULL)(&wait, NULL);
        *rest = left_of(total, started);
        if (result != 0)
            return result;
    }
    return 0;
}

EXPORT int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    uint64_t rest;
    if (!is_time(wanted) || look() == 0)
        return NEXT(nanosleep, NULL)(wanted, left);
    int result = sleep_ns(to_ns(wanted), &rest);
    if (result != 0 && left != NULL)
        *left = to_timespec(rest);
    return result;
}

EXPORT int usleep(useconds_t microseconds)
{
    uint64_t rest;
    return sleep_ns((uint64_t)microseconds * 1000, &rest);
}

/* Returns the seconds that were left when a signal came. */
EXPORT unsigned sleep(unsigned seconds)
{
    uint64_t rest;
    int saved = errno;
    if (sleep_ns((uint64_t)seconds * SECOND, &rest) != 0)
        return (unsigned)(rest / SECOND);
    errno = saved;
    return 0;
}

/* Time on a clock, UINT64_MAX if it has none we can read. */
static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    return clock_gettime(clock, &now) == 0 ? to_ns(&now) : UINT64_MAX;
}

/* The end of the next piece of a wait until an absolute time; false: wait to the end. */
static bool next_deadline(clockid_t clock, const struct timespec *until, struct timespec *end)
{
    uint64_t piece = look();
    if (piece == 0)
        return false;
    uint64_t now = clock_ns(clock);
    if (now == UINT64_MAX || (until != NULL && (!is_time(until) || now + piece >= to_ns(until))))
        return false;
    *end = to_timespec(now + piece);
    return true;
}

EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted, struct timespec *left)
{
    struct timespec end;
    if (flags == TIMER_ABSTIME) {
        while (next_deadline(clock, wanted, &end)) {
            int result = NEXT(clock_nanosleep, NULL)(clock, flags, &end, NULL);
            if (result != 0)
                return result;
        }
        return NEXT(clock_nanosleep, NULL)(clock, flags, wanted, left);
    }
    if (!is_time(wanted) || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) || look() == 0)
        return NEXT(clock_nanosleep, NULL)(clock, flags, wanted, left);
    uint64_t rest;
    int saved = errno;
    int result = sleep_ns(to_ns(wanted), &rest) == 0 ? 0 : errno;
    errno = saved;
    if (result != 0 && left != NULL)
        *left = to_timespec(rest);
    return result;
}

/* Condition variables came to their present form in this version of glibc; dlsym alone would find the older one. */
#define COND_VERSION "GLIBC_2.3.2"

EXPORT int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                                  const struct timespec *until)
{
    struct timespec end;
    while (next_deadline(clock, until, &end)) {
        int result = NEXT(pthread_cond_clockwait, NULL)(condition, mutex, clock, &end);
        if (result != ETIMEDOUT)
            return result;
    }
    return NEXT(pthread_cond_clockwait, NULL)(condition, mutex, clock, until);
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
{
    /* glibc keeps the condition's clock in bit 1 of this word. */
    clockid_t clock = (condition->__data.__wrefs & 2) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    struct timespec end;
    while (next_deadline(clock, until, &end)) {
        int result = NEXT(pthread_cond_timedwait, COND_VERSION)(condition, mutex, &end);
        if (result != ETIMEDOUT)
            return result;
    }
    return NEXT(pthread_cond_timedwait, COND_VERSION)(condition, mutex, until);
}

EXPORT int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    struct timespec end;
    while (next_deadline(CLOCK_MONOTONIC, NULL, &end)) {
        int result = NEXT(pthread_cond_clockwait, NULL)(condition, mutex, CLOCK_MONOTONIC, &end);
        if (result != ETIMEDOUT)
            return result;
    }
    return NEXT(pthread_cond_wait, COND_VERSION)(condition, mutex);
}

EXPORT int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
    struct timespec end;
    while (next_deadline(clock, until, &end)) {
        int result = NEXT(sem_clockwait, NULL)(semaphore, clock, &end);
        if (result == 0 || errno != ETIMEDOUT)
            return result;
    }
    return NEXT(sem_clockwait, NULL)(semaphore, clock, until);
}

EXPORT int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
    struct timespec end;
    while (next_deadline(CLOCK_REALTIME, until, &end)) {
        int result = NEXT(sem_timedwait, NULL)(semaphore, &end);
        if (result == 0 || errno != ETIMEDOUT)
            return result;
    }
    return NEXT(sem_timedwait, NULL)(semaphore, until);
}

EXPORT int sem_wait(sem_t *semaphore)
{
    struct timespec end;
    while (next_deadline(CLOCK_MONOTONIC, NULL, &end)) {
        int result = NEXT(sem_clockwait, NULL)(semaphore, CLOCK_MONOTONIC, &end);
        if (result == 0 || errno != ETIMEDOUT)
            return result;
    }
    return NEXT(sem_wait, NULL)(semaphore);
}
