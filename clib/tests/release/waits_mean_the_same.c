// The calls that Granary stands in for keep their meaning: results, time-outs, errno, signals that
// interrupt them, remaining times, invalid arguments and cancellation.
// covers: 18
// also: GRANARY_ALLOC_RELEASE=0
// also: GRANARY_ALLOC_SYSTEM=1
#include "test.h"
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>

static volatile sig_atomic_t alarms;
static void on_alarm(int number)
{
    (void)number;
    alarms++;
}

// The alarm comes again and again: the first may come before the wait has begun.
static void alarm_in_ms(int milliseconds)
{
    struct itimerval timer = {{0, milliseconds * 1000}, {0, milliseconds * 1000}};
    alarms = 0;
    CHECKED(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

static void interrupted(void)
{
    struct timespec long_time = {20, 0}, left = {0, 0};
    alarm_in_ms(50);
    CHECKED(poll(NULL, 0, 20000) == -1 && errno == EINTR && alarms > 0);
    alarm_in_ms(50);
    CHECKED(poll(NULL, 0, -1) == -1 && errno == EINTR && alarms > 0);
    alarm_in_ms(50);
    CHECKED(select(0, NULL, NULL, NULL, NULL) == -1 && errno == EINTR && alarms > 0);
    alarm_in_ms(50);
    CHECKED(nanosleep(&long_time, &left) == -1 && errno == EINTR && alarms > 0);
    CHECK(left.tv_sec >= 15 && left.tv_sec < 20, "nanosleep leaves %ld s", (long)left.tv_sec);
    alarm_in_ms(50);
    CHECKED(clock_nanosleep(CLOCK_MONOTONIC, 0, &long_time, &left) == EINTR && alarms > 0);
    CHECK(left.tv_sec >= 15 && left.tv_sec < 20, "clock_nanosleep leaves %ld s", (long)left.tv_sec);
    alarm_in_ms(50);
    unsigned rest = sleep(20);
    CHECK(rest >= 15 && rest <= 20 && alarms > 0, "sleep leaves %u s", rest);
    alarm_in_ms(50);
    CHECKED(usleep(900000) == -1 && errno == EINTR && alarms > 0);
    int epoll = epoll_create1(0);
    struct epoll_event event;
    alarm_in_ms(50);
    CHECKED(epoll_wait(epoll, &event, 1, -1) == -1 && errno == EINTR && alarms > 0);
    close(epoll);
    sem_t semaphore;
    CHECKED(sem_init(&semaphore, 0, 0) == 0);
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 20;
    alarm_in_ms(50);
    CHECKED(sem_timedwait(&semaphore, &end) == -1 && errno == EINTR && alarms > 0);
    CHECKED(sem_post(&semaphore) == 0);
    CHECKED(sem_timedwait(&semaphore, &end) == 0);
    struct itimerval never = {{0, 0}, {0, 0}};
    CHECKED(setitimer(ITIMER_REAL, &never, NULL) == 0);
}

static void invalid(void)
{
    struct timespec bad = {0, 2000000000L};
    errno = 0;
    CHECKED(nanosleep(&bad, NULL) == -1 && errno == EINVAL);
    CHECKED(clock_nanosleep(CLOCK_MONOTONIC, 0, &bad, NULL) == EINVAL);
    struct epoll_event event;
    errno = 0;
    CHECKED(epoll_wait(-1, &event, 1, 0) == -1 && errno == EBADF);
    errno = 0;
    CHECKED(select(-1, NULL, NULL, NULL, NULL) == -1 && errno == EINVAL);
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&lock);
    CHECKED(pthread_cond_timedwait(&never, &lock, &bad) == EINVAL);
    struct timespec past = {1, 0};
    CHECKED(pthread_cond_timedwait(&never, &lock, &past) == ETIMEDOUT);
    pthread_mutex_unlock(&lock);
    CHECKED(poll(NULL, 0, 0) == 0);
}

static void ready(void)
{
    int ends[2];
    CHECKED(pipe(ends) == 0 && write(ends[1], "x", 1) == 1);
    struct pollfd watched = {.fd = ends[0], .events = POLLIN};
    CHECKED(poll(&watched, 1, -1) == 1 && watched.revents == POLLIN);
    CHECKED(poll(&watched, 1, 5000) == 1);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    struct timeval time = {5, 0};
    CHECKED(select(ends[0] + 1, &set, NULL, NULL, &time) == 1 && FD_ISSET(ends[0], &set));
    CHECK(time.tv_sec >= 3, "select leaves %ld s", (long)time.tv_sec);
    int epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 12345};
    CHECKED(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event) == 0);
    memset(&event, 0, sizeof event);
    CHECKED(epoll_wait(epoll, &event, 1, -1) == 1 && event.data.u64 == 12345);
    close(epoll);
    close(ends[0]);
    close(ends[1]);
}

static void full_time(void)
{
    int64_t begin = now_ms();
    CHECKED(poll(NULL, 0, 700) == 0);
    int64_t passed = now_ms() - begin;
    CHECK(passed >= 699, "poll of 700 ms took %lld ms", (long long)passed);
    begin = now_ms();
    CHECKED(usleep(300000) == 0 && sleep(1) == 0);
    passed = now_ms() - begin;
    CHECK(passed >= 1299, "1300 ms of sleep took %lld ms", (long long)passed);
}

static void *wait_for_cancel(void *way)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    struct timespec far = {now_ms() / 1000 + 4000000000L, 0};
    struct pollfd nothing = {.fd = -1};
    switch ((uintptr_t)way) {
    case 0: poll(&nothing, 1, -1); break;
    case 1: sleep(100); break;
    case 2: usleep(50000000); break;
    case 3: select(0, NULL, NULL, NULL, NULL); break;
    default:
        pthread_mutex_lock(&lock);
        pthread_cond_timedwait(&never, &lock, &far);
    }
    return NULL;
}

static void cancelled(void)
{
    for (uintptr_t way = 0; way < 5; way++) {
        pthread_t thread;
        void *result = NULL;
        start_thread(&thread, wait_for_cancel, (void *)way);
        CHECKED(pthread_cancel(thread) == 0);
        CHECKED(pthread_join(thread, &result) == 0);
        CHECK(result == PTHREAD_CANCELED, "way %zu was not cancelled", (size_t)way);
    }
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_alarm};
    CHECKED(sigaction(SIGALRM, &action, NULL) == 0);
    // Something to look at for the sweeps.
    for (size_t size = 0; size < 300000; size += 333)
        free(malloc(size));
    interrupted();
    invalid();
    ready();
    full_time();
    cancelled();
    return 0;
}
