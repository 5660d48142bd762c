// After a fork, with and without threads in the parent, the child gives memory back as its parent
// does, both what it inherited and freed, and what it made itself.
// covers: 17 24
// only: granary
#include "test.h"

enum { BLOCKS = 100000, BLOCK_BYTES = 1000 };
static void *blocks[BLOCKS];

static void *fill(void *unused)
{
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(BLOCK_BYTES);
        memset(blocks[i], 1, BLOCK_BYTES);
    }
    return unused;
}
static void free_all(void)
{
    for (size_t i = 0; i < BLOCKS; i++)
        free(blocks[i]);
}

static void child(void)
{
    size_t full = rss_bytes();
    free_all();
    expect_rss_within("child, inherited blocks", full / 4, 4000);
    fill(NULL);
    free_all();
    expect_rss_within("child, own blocks", full / 4, 4000);
    _exit(0);
}

int main(void)
{
    pthread_t thread;
    start_thread(&thread, fill, NULL);
    join_thread(thread);
    pid_t pid = fork();
    if (pid == 0)
        child();
    expect_child_ok(pid, "child");
    size_t full = rss_bytes();
    free_all();
    expect_rss_within("parent", full / 4, 4000);
    return 0;
}
