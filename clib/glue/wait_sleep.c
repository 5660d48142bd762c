/* The waits for a time alone: sleep, usleep, nanosleep, clock_nanosleep. See wait.c. In pieces
 * they are a ppoll of nothing, which takes a mask. */
#include "wait.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

static bool sleep_piece(struct granary_wait *wait, const struct timespec *length)
{
    wait->result = NEXT(ppoll, NULL)(NULL, 0, length, wait->mask);
    if (wait->result < 0)
        wait->error = errno;
    return wait->result != 0;
}

enum slept { SLEPT, INTERRUPTED, REFUSED };

/* After a signal *rest is what is left. */
static enum slept sleep_in_pieces(uint64_t total, struct granary_look look, uint64_t *rest)
{
    struct granary_wait wait = {.piece = sleep_piece, .atomic = true, .total = total, .look = look};
    if (!granary_wait_in_pieces(&wait))
        return REFUSED;
    *rest = granary_wait_rest(&wait);
    return wait.result < 0 ? INTERRUPTED : SLEPT;
}

static SLOW int nanosleep_slow(const struct timespec *wanted, struct timespec *left,
                               struct granary_look look)
{
    uint64_t rest;
    switch (sleep_in_pieces(granary_ns(wanted), look, &rest)) {
    case SLEPT:
        return 0;
    case INTERRUPTED:
        if (left != NULL)
            *left = granary_timespec(rest);
        return -1;
    default:
        return NEXT(nanosleep, NULL)(wanted, left);
    }
}

EXPORT int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    if (granary_is_time(wanted)) {
        struct granary_look look = granary_wait_look();
        if (granary_wait_reaches(look, granary_ns(wanted)))
            return nanosleep_slow(wanted, left, look);
    }
    return NEXT(nanosleep, NULL)(wanted, left);
}

static SLOW int usleep_slow(useconds_t microseconds, struct granary_look look)
{
    uint64_t rest;
    enum slept slept = sleep_in_pieces((uint64_t)microseconds * 1000, look, &rest);
    return slept == SLEPT ? 0 : slept == INTERRUPTED ? -1 : NEXT(usleep, NULL)(microseconds);
}

EXPORT int usleep(useconds_t microseconds)
{
    struct granary_look look = granary_wait_look();
    if (granary_wait_reaches(look, (uint64_t)microseconds * 1000))
        return usleep_slow(microseconds, look);
    return NEXT(usleep, NULL)(microseconds);
}

/* Returns the seconds that were left when a signal came, and keeps errno. */
static SLOW unsigned sleep_slow(unsigned seconds, struct granary_look look)
{
    uint64_t rest;
    int saved = errno;
    enum slept slept = sleep_in_pieces((uint64_t)seconds * SECOND, look, &rest);
    errno = saved;
    if (slept == REFUSED)
        return NEXT(sleep, NULL)(seconds);
    return slept == INTERRUPTED ? (unsigned)(rest / SECOND) : 0;
}

EXPORT unsigned sleep(unsigned seconds)
{
    struct granary_look look = granary_wait_look();
    if (granary_wait_reaches(look, (uint64_t)seconds * SECOND))
        return sleep_slow(seconds, look);
    return NEXT(sleep, NULL)(seconds);
}

/* The time from now on until a time on a clock, 0 if that is over or the clock is none we can
 * read. */
static uint64_t time_until(clockid_t clock, const struct timespec *until)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0)
        return 0;
    uint64_t end = granary_ns(until), begin = granary_ns(&now);
    return end > begin ? end - begin : 0;
}

/* A sleep until a time on a clock that may be set meanwhile: only the libc can wait for the last
 * piece of it. */
struct clock_wait {
    struct granary_wait wait;
    clockid_t clock;
    const struct timespec *until;
};

static bool clock_piece(struct granary_wait *wait, const struct timespec *length)
{
    struct clock_wait *c = (struct clock_wait *)wait;
    int error = wait->last ? NEXT(clock_nanosleep, NULL)(c->clock, TIMER_ABSTIME, c->until, NULL)
                           : NEXT(clock_nanosleep, NULL)(CLOCK_MONOTONIC, 0, length, NULL);
    wait->result = error != 0 ? -1 : 0;
    wait->error = error;
    return error != 0;
}

static SLOW int sleep_until_slow(clockid_t clock, const struct timespec *until, uint64_t total,
                                 struct granary_look look)
{
    int saved = errno;
    struct clock_wait c = {{.piece = clock_piece, .total = total, .look = look}, clock, until};
    granary_wait_in_pieces(&c.wait);
    errno = saved;
    return c.wait.result != 0 ? c.wait.error : 0;
}

static SLOW int clock_nanosleep_slow(clockid_t clock, int flags, const struct timespec *wanted,
                                     struct timespec *left, uint64_t total,
                                     struct granary_look look)
{
    uint64_t rest;
    int saved = errno;
    enum slept slept = sleep_in_pieces(total, look, &rest);
    errno = saved;
    if (slept == REFUSED)
        return NEXT(clock_nanosleep, NULL)(clock, flags, wanted, left);
    if (slept == INTERRUPTED && left != NULL && flags != TIMER_ABSTIME)
        *left = granary_timespec(rest);
    return slept == INTERRUPTED ? EINTR : 0;
}

EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                           struct timespec *left)
{
    bool absolute = flags == TIMER_ABSTIME;
    bool usual = (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) && (flags == 0 || absolute);
    if (usual && granary_is_time(wanted)) {
        struct granary_look look = granary_wait_look();
        uint64_t total = 0;
        if (look.wake != 0)
            total = absolute ? time_until(clock, wanted) : granary_ns(wanted);
        if (granary_wait_reaches(look, total))
            return absolute && clock == CLOCK_REALTIME
                       ? sleep_until_slow(clock, wanted, total, look)
                       : clock_nanosleep_slow(clock, flags, wanted, left, total, look);
    }
    return NEXT(clock_nanosleep, NULL)(clock, flags, wanted, left);
}
