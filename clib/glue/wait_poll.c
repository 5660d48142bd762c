/* The waits for descriptors: poll, select, epoll_wait and their variants. See wait.c. */
#include "wait.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>

/* Stores what the libc's call gave. Zero is the end of a piece: the wait goes on. */
static bool store(struct granary_wait *wait, int result)
{
    wait->result = result;
    if (result < 0)
        wait->error = errno;
    return result != 0;
}

static uint64_t ms_to_ns(int timeout)
{
    return timeout < 0 ? FOR_EVER : (uint64_t)timeout * MILLISECOND;
}

struct poll_wait {
    struct granary_wait wait;
    struct pollfd *fds;
    nfds_t count;
};

static bool poll_piece(struct granary_wait *wait, const struct timespec *length)
{
    struct poll_wait *p = (struct poll_wait *)wait;
    return store(wait, NEXT(ppoll, NULL)(p->fds, p->count, length, wait->mask));
}

static bool poll_in_pieces(struct poll_wait *p)
{
    p->wait.piece = poll_piece;
    p->wait.atomic = true;
    return granary_wait_in_pieces(&p->wait);
}

static SLOW int poll_slow(struct pollfd *fds, nfds_t count, int timeout, struct granary_look look)
{
    struct poll_wait p = {{.total = ms_to_ns(timeout), .look = look}, fds, count};
    return poll_in_pieces(&p) ? p.wait.result : NEXT(poll, NULL)(fds, count, timeout);
}

EXPORT int poll(struct pollfd *fds, nfds_t count, int timeout)
{
    if (timeout != 0) {
        struct granary_look look = granary_wait_look();
        if (granary_wait_reaches(look, ms_to_ns(timeout)))
            return poll_slow(fds, count, timeout, look);
    }
    return NEXT(poll, NULL)(fds, count, timeout);
}

/* The length of a wait with a timespec; 0 for one that only looks, or that the libc refuses. */
static uint64_t total_of(const struct timespec *timeout)
{
    return timeout == NULL ? FOR_EVER : granary_is_time(timeout) ? granary_ns(timeout) : 0;
}

static SLOW int ppoll_slow(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                           const sigset_t *mask, struct granary_look look)
{
    struct poll_wait p = {{.total = total_of(timeout), .mask = mask, .look = look}, fds, count};
    return poll_in_pieces(&p) ? p.wait.result : NEXT(ppoll, NULL)(fds, count, timeout, mask);
}

EXPORT int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                 const sigset_t *mask)
{
    uint64_t total = total_of(timeout);
    if (total != 0) {
        struct granary_look look = granary_wait_look();
        if (granary_wait_reaches(look, total))
            return ppoll_slow(fds, count, timeout, mask, look);
    }
    return NEXT(ppoll, NULL)(fds, count, timeout, mask);
}

struct epoll_wait_ {
    struct granary_wait wait;
    int epoll;
    struct epoll_event *events;
    int most;
};

static bool epoll_piece(struct granary_wait *wait, const struct timespec *length)
{
    struct epoll_wait_ *e = (struct epoll_wait_ *)wait;
    int ms = -1;
    if (length != NULL) { /* rounded up, as a shorter time would end early */
        uint64_t whole = (granary_ns(length) + MILLISECOND - 1) / MILLISECOND;
        ms = whole < INT32_MAX ? (int)whole : INT32_MAX;
    }
    return store(wait, NEXT(epoll_pwait, NULL)(e->epoll, e->events, e->most, ms, wait->mask));
}

static bool epoll_in_pieces(struct epoll_wait_ *e)
{
    e->wait.piece = epoll_piece;
    e->wait.atomic = true;
    return granary_wait_in_pieces(&e->wait);
}

static SLOW int epoll_slow(int epoll, struct epoll_event *events, int most, int timeout,
                           struct granary_look look)
{
    struct epoll_wait_ e = {{.total = ms_to_ns(timeout), .look = look}, epoll, events, most};
    if (!epoll_in_pieces(&e))
        return NEXT(epoll_wait, NULL)(epoll, events, most, timeout);
    return e.wait.result;
}

EXPORT int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout)
{
    if (timeout != 0) {
        struct granary_look look = granary_wait_look();
        if (granary_wait_reaches(look, ms_to_ns(timeout)))
            return epoll_slow(epoll, events, most, timeout, look);
    }
    return NEXT(epoll_wait, NULL)(epoll, events, most, timeout);
}

static SLOW int epoll_pwait_slow(int epoll, struct epoll_event *events, int most, int timeout,
                                 const sigset_t *mask, struct granary_look look)
{
    struct epoll_wait_ e = {
        {.total = ms_to_ns(timeout), .mask = mask, .look = look}, epoll, events, most};
    if (!epoll_in_pieces(&e))
        return NEXT(epoll_pwait, NULL)(epoll, events, most, timeout, mask);
    return e.wait.result;
}

EXPORT int epoll_pwait(int epoll, struct epoll_event *events, int most, int timeout,
                       const sigset_t *mask)
{
    if (timeout != 0) {
        struct granary_look look = granary_wait_look();
        if (granary_wait_reaches(look, ms_to_ns(timeout)))
            return epoll_pwait_slow(epoll, events, most, timeout, mask, look);
    }
    return NEXT(epoll_pwait, NULL)(epoll, events, most, timeout, mask);
}

static bool epoll2_piece(struct granary_wait *wait, const struct timespec *length)
{
    struct epoll_wait_ *e = (struct epoll_wait_ *)wait;
    return store(wait, NEXT(epoll_pwait2, NULL)(e->epoll, e->events, e->most, length, wait->mask));
}

static SLOW int epoll_pwait2_slow(int epoll, struct epoll_event *events, int most,
                                  const struct timespec *timeout, const sigset_t *mask,
                                  struct granary_look look)
{
    struct epoll_wait_ e = {
        {.total = total_of(timeout), .mask = mask, .look = look}, epoll, events, most};
    e.wait.piece = epoll2_piece;
    e.wait.atomic = true;
    if (!granary_wait_in_pieces(&e.wait))
        return NEXT(epoll_pwait2, NULL)(epoll, events, most, timeout, mask);
    return e.wait.result;
}

EXPORT int epoll_pwait2(int epoll, struct epoll_event *events, int most,
                        const struct timespec *timeout, const sigset_t *mask)
{
    uint64_t total = total_of(timeout);
    if (total != 0) {
        struct granary_look look = granary_wait_look();
        if (granary_wait_reaches(look, total))
            return epoll_pwait2_slow(epoll, events, most, timeout, mask, look);
    }
    return NEXT(epoll_pwait2, NULL)(epoll, events, most, timeout, mask);
}

/* select clears the sets when the time is up, so every piece starts from what the caller gave. */
struct select_wait {
    struct granary_wait wait;
    int count;
    fd_set *sets[3];
    fd_set kept[3];
};

static bool select_piece(struct granary_wait *wait, const struct timespec *length)
{
    struct select_wait *s = (struct select_wait *)wait;
    size_t bytes = ((size_t)s->count + 63) / 64 * 8;
    for (int i = 0; i < 3; i++)
        if (s->sets[i] != NULL)
            memcpy(s->sets[i], &s->kept[i], bytes);
    return store(wait, NEXT(pselect, NULL)(s->count, s->sets[0], s->sets[1], s->sets[2], length,
                                           wait->mask));
}

static bool select_in_pieces(struct select_wait *s, fd_set *in, fd_set *out, fd_set *bad)
{
    size_t bytes = ((size_t)s->count + 63) / 64 * 8;
    s->wait.piece = select_piece;
    s->wait.atomic = true;
    s->sets[0] = in;
    s->sets[1] = out;
    s->sets[2] = bad;
    for (int i = 0; i < 3; i++)
        if (s->sets[i] != NULL)
            memcpy(&s->kept[i], s->sets[i], bytes);
    return granary_wait_in_pieces(&s->wait);
}

static bool has_usual_count(int count) { return count >= 0 && count <= FD_SETSIZE; }

static SLOW int pselect_slow(int count, fd_set *in, fd_set *out, fd_set *bad,
                             const struct timespec *timeout, const sigset_t *mask,
                             struct granary_look look)
{
    struct select_wait s;
    s.wait = (struct granary_wait){.total = total_of(timeout), .mask = mask, .look = look};
    s.count = count;
    if (!select_in_pieces(&s, in, out, bad))
        return NEXT(pselect, NULL)(count, in, out, bad, timeout, mask);
    return s.wait.result;
}

EXPORT int pselect(int count, fd_set *in, fd_set *out, fd_set *bad, const struct timespec *timeout,
                   const sigset_t *mask)
{
    uint64_t total = has_usual_count(count) ? total_of(timeout) : 0;
    if (total != 0) {
        struct granary_look look = granary_wait_look();
        if (granary_wait_reaches(look, total))
            return pselect_slow(count, in, out, bad, timeout, mask, look);
    }
    return NEXT(pselect, NULL)(count, in, out, bad, timeout, mask);
}

/* The length of a wait with a timeval, which may have more than a second of microseconds; 0 as for
 * total_of. */
static uint64_t total_of_timeval(const struct timeval *timeout)
{
    if (timeout == NULL)
        return FOR_EVER;
    bool odd = timeout->tv_sec < 0 || timeout->tv_sec > INT64_MAX / SECOND - 1 ||
               timeout->tv_usec < 0 || timeout->tv_usec > INT64_MAX / 2000;
    return odd ? 0 : (uint64_t)timeout->tv_sec * SECOND + (uint64_t)timeout->tv_usec * 1000;
}

/* Linux's select leaves the time that was not waited in *timeout. */
static SLOW int select_slow(int count, fd_set *in, fd_set *out, fd_set *bad,
                            struct timeval *timeout, struct granary_look look)
{
    struct select_wait s;
    s.wait = (struct granary_wait){.total = total_of_timeval(timeout), .look = look};
    s.count = count;
    if (!select_in_pieces(&s, in, out, bad))
        return NEXT(select, NULL)(count, in, out, bad, timeout);
    if (timeout != NULL) {
        uint64_t rest = granary_wait_rest(&s.wait);
        timeout->tv_sec = (time_t)(rest / SECOND);
        timeout->tv_usec = (long)(rest % SECOND / 1000);
    }
    return s.wait.result;
}

EXPORT int select(int count, fd_set *in, fd_set *out, fd_set *bad, struct timeval *timeout)
{
    uint64_t total = has_usual_count(count) ? total_of_timeval(timeout) : 0;
    if (total != 0) {
        struct granary_look look = granary_wait_look();
        if (granary_wait_reaches(look, total))
            return select_slow(count, in, out, bad, timeout, look);
    }
    return NEXT(select, NULL)(count, in, out, bad, timeout);
}
