// The same for a server that waits without a time limit: epoll_wait(-1), woken by a child after
// some seconds, on the main thread and on another one.
// covers: 24
// only: granary
#include "test.h"
#include <sys/epoll.h>

enum { BLOCKS = 100000 };
static void *blocks[BLOCKS];

static void fill_and_free(void)
{
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(1000);
        memset(blocks[i], 1, 1000);
    }
    for (size_t i = 0; i < BLOCKS; i++)
        free(blocks[i]);
}

static void *serve(void *unused)
{
    int ends[2];
    CHECKED(pipe(ends) == 0);
    fill_and_free();
    size_t full = rss_bytes();
    pid_t child = fork();
    if (child == 0) {
        usleep(2500000);
        _exit(write(ends[1], "x", 1) != 1);
    }
    int epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    CHECKED(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event) == 0);
    CHECKED(epoll_wait(epoll, &event, 1, -1) == 1);
    size_t idle = rss_bytes();
    CHECK(idle < full / 5, "%zu KiB of %zu KiB still in memory after epoll_wait", idle / KIB,
          full / KIB);
    expect_child_ok(child, "waker");
    return unused;
}

int main(void)
{
    serve(NULL);
    pthread_t thread;
    start_thread(&thread, serve, NULL);
    join_thread(thread);
    return 0;
}
