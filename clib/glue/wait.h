/* Waiting in pieces: what the functions that stand in for the libc's share. wait.c has the
 * overview. */
#ifndef GRANARY_GLUE_WAIT_H
#define GRANARY_GLUE_WAIT_H

#include "core.h"

#include <signal.h>
#include <time.h>

enum { SECOND = 1000000000, MILLISECOND = 1000000 };

#define FOR_EVER UINT64_MAX

/* Keeps the way that the libc's function is entered by free of what pieces need. */
#define SLOW __attribute__((noinline))

/* The libc's function, looked up at its first use. */
#define NEXT(name, version)                                                              \
    ({                                                                                   \
        static void *kept;                                                               \
        void *found = __atomic_load_n(&kept, __ATOMIC_RELAXED);                          \
        if (UNLIKELY(found == NULL)) {                                                   \
            found = granary_next_symbol(#name, version);                                 \
            __atomic_store_n(&kept, found, __ATOMIC_RELAXED);                            \
        }                                                                                \
        (__typeof__(&name))found;                                                        \
    })

/* When to look for memory to give back: wake 0 not at all, up to now at once. */
struct granary_look {
    uint64_t now, wake;
};

struct granary_look granary_wait_look(void);

/* Whether a wait of so many nanoseconds lasts until there is something to do. */
static inline bool granary_wait_reaches(struct granary_look look, uint64_t total)
{
    return look.wake != 0 && (look.wake <= look.now || look.wake - look.now < total);
}

/* For a wait that cannot be cut: sweeps if it is time. */
void granary_wait_once(void);

/* One wait. The first four fields are the caller's to set. */
struct granary_wait {
    /* Makes the libc's call for one piece: length NULL is for ever. Returns true if the wait is
     * over. */
    bool (*piece)(struct granary_wait *wait, const struct timespec *length);
    uint64_t total;       /* nanoseconds from look.now on, or FOR_EVER */
    const sigset_t *mask; /* signals that the call blocks while it waits; NULL: the caller's */
    bool atomic;          /* the call takes a mask, so that no signal is lost between two pieces */
    struct granary_look look;

    int result;
    int error;       /* what errno has to be, if result is no success */
    bool last;       /* this piece is the rest of the wait */
    sigset_t caller; /* the signals that the caller blocks */
};

/* Waits. Returns false if the system refuses the calls with a mask, and then nothing has been
 * waited for: the libc's function of the program's choice does it. */
bool granary_wait_in_pieces(struct granary_wait *wait);

/* What is left of the wait at the time look.now. */
uint64_t granary_wait_rest(const struct granary_wait *wait);

static inline struct timespec granary_timespec(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND)};
}

static inline bool granary_is_time(const struct timespec *t)
{
    return t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < SECOND;
}

/* Nanoseconds, or FOR_EVER for anything beyond two hundred years. */
static inline uint64_t granary_ns(const struct timespec *t)
{
    return t->tv_sec > INT64_MAX / SECOND - 1 ? FOR_EVER
                                              : (uint64_t)t->tv_sec * SECOND + (uint64_t)t->tv_nsec;
}

#endif
