/* The waits for other threads: condition variables and semaphores. See wait.c.
 *
 * A wait on a condition is not cut into pieces: a thread that signals after it gave up the mutex
 * would find nobody waiting between two of them, and its signal would be lost. There the sweep
 * runs before the wait. A semaphore counts, so nothing is lost. */
#include "wait.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

/* Condition variables came to their present form in this version of glibc; dlsym alone would find
 * the older one. */
#define COND_VERSION "GLIBC_2.3.2"

EXPORT int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    granary_wait_once();
    return NEXT(pthread_cond_wait, COND_VERSION)(condition, mutex);
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until)
{
    granary_wait_once();
    return NEXT(pthread_cond_timedwait, COND_VERSION)(condition, mutex, until);
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  clockid_t clock, const struct timespec *until)
{
    granary_wait_once();
    return NEXT(pthread_cond_clockwait, NULL)(condition, mutex, clock, until);
}

struct sem_wait_ {
    struct granary_wait wait;
    sem_t *semaphore;
    clockid_t clock;
    const struct timespec *until; /* NULL: for ever */
};

static int sem_rest(struct sem_wait_ *s)
{
    if (s->until == NULL)
        return NEXT(sem_wait, NULL)(s->semaphore);
    if (s->clock == CLOCK_REALTIME)
        return NEXT(sem_timedwait, NULL)(s->semaphore, s->until);
    return NEXT(sem_clockwait, NULL)(s->semaphore, s->clock, s->until);
}

static bool sem_piece(struct granary_wait *wait, const struct timespec *length)
{
    struct sem_wait_ *s = (struct sem_wait_ *)wait;
    int saved = errno;
    if (wait->last) {
        wait->result = sem_rest(s);
    } else {
        struct timespec end = granary_timespec(granary_sys_now() + granary_ns(length));
        wait->result = NEXT(sem_clockwait, NULL)(s->semaphore, CLOCK_MONOTONIC, &end);
    }
    wait->error = errno;
    if (wait->result == 0)
        return true;
    errno = saved;
    return wait->last || wait->error != ETIMEDOUT;
}

static SLOW int sem_slow(sem_t *semaphore, clockid_t clock, const struct timespec *until,
                         uint64_t total, struct granary_look look)
{
    struct sem_wait_ s = {
        {.piece = sem_piece, .total = total, .look = look}, semaphore, clock, until};
    granary_wait_in_pieces(&s.wait);
    if (s.wait.result != 0 && errno == EINTR && sem_trywait(semaphore) == 0)
        return 0; /* a signal does not interrupt what need not wait */
    if (s.wait.result != 0)
        errno = s.wait.error;
    return s.wait.result;
}

/* Whether the semaphore can be taken without waiting: then nothing is to be done here, not even
 * reading the clock. */
static bool is_free(sem_t *semaphore)
{
    int value = 0;
    return sem_getvalue(semaphore, &value) == 0 && value > 0;
}

/* The time until a deadline, 0 if the libc refuses it. */
static uint64_t time_until(clockid_t clock, const struct timespec *until)
{
    struct timespec now;
    if (!granary_is_time(until) || clock_gettime(clock, &now) != 0)
        return 0;
    uint64_t end = granary_ns(until), begin = granary_ns(&now);
    return end > begin ? end - begin : 0;
}

EXPORT int sem_wait(sem_t *semaphore)
{
    if (!is_free(semaphore)) {
        struct granary_look look = granary_wait_look();
        if (granary_wait_reaches(look, FOR_EVER))
            return sem_slow(semaphore, CLOCK_REALTIME, NULL, FOR_EVER, look);
    }
    return NEXT(sem_wait, NULL)(semaphore);
}

EXPORT int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
    if (!is_free(semaphore)) {
        struct granary_look look = granary_wait_look();
        uint64_t total = look.wake == 0 ? 0 : time_until(CLOCK_REALTIME, until);
        if (total != 0 && granary_wait_reaches(look, total))
            return sem_slow(semaphore, CLOCK_REALTIME, until, total, look);
    }
    return NEXT(sem_timedwait, NULL)(semaphore, until);
}

EXPORT int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
    bool usual = clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
    if (usual && !is_free(semaphore)) {
        struct granary_look look = granary_wait_look();
        uint64_t total = look.wake == 0 ? 0 : time_until(clock, until);
        if (total != 0 && granary_wait_reaches(look, total))
            return sem_slow(semaphore, clock, until, total, look);
    }
    return NEXT(sem_clockwait, NULL)(semaphore, clock, until);
}
