// Forks while other threads allocate and collect: the child allocates, collects, starts threads and forks again. Also
// fork from a thread that is not the first, vfork, posix_spawn, and, with one thread, a
// process made by the system call alone.
// library: gc
// only: granary
#include "check.h"

#include <pthread.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, FORKS = 12 };

static _Atomic int over;
extern char **environ;

struct node {
    struct node *next;
    long value;
};

static struct node *make(long length)
{
    struct node *list = NULL;
    for (long i = 0; i < length; i++) {
        struct node *node = GC_malloc(sizeof *node);
        node->next = list;
        node->value = i;
        list = node;
    }
    return list;
}

static void check(struct node *list, long length)
{
    for (; list != NULL; list = list->next)
        CHECK(list->value == --length);
    CHECK(length == 0);
}

static void *churn(void *unused)
{
    struct node *kept = make(1000);
    for (long i = 0; !over; i++) {
        check(make(300), 300);
        GC_free(GC_malloc(3000));
        if (i % 50 == 0)
            GC_gcollect();
    }
    check(kept, 1000);
    return unused;
}

static void *short_work(void *unused)
{
    check(make(2000), 2000);
    GC_gcollect();
    return unused;
}

static void wait_for(pid_t child)
{
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void in_grandchild(struct node *list)
{
    alarm(180);
    GC_gcollect();
    check(list, 500);
    short_work(NULL);
    _exit(0);
}

static void in_child(struct node *list)
{
    alarm(180); /* a child that hangs is found */
    check(list, 500);
    GC_gcollect();
    check(list, 500);
    pthread_t thread;
    CHECK(GC_pthread_create(&thread, NULL, short_work, NULL) == 0);
    short_work(NULL);
    CHECK(GC_pthread_join(thread, NULL) == 0);
    pid_t child = fork();
    if (child == 0)
        in_grandchild(list);
    wait_for(child);
    _exit(0);
}

static void fork_often(void)
{
    struct node *list = make(500);
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        if (child == 0)
            in_child(list);
        wait_for(child);
    }
    pid_t child = vfork();
    if (child == 0) {
        for (int i = 0; i < 20000; i++)
            GC_malloc(100);
        _exit(0);
    }
    wait_for(child);
    char *words[] = {(char *)"true", NULL};
    CHECK(posix_spawnp(&child, "true", NULL, NULL, words, environ) == 0);
    wait_for(child);
    check(list, 500);
}

/* No handler is called. */
static void fork_by_system_call(void)
{
    struct node *list = make(500);
    pid_t child = (pid_t)syscall(SYS_fork);
    if (child == 0) {
        alarm(180);
        check(list, 500);
        GC_gcollect();
        check(make(20000), 20000);
        _exit(0);
    }
    wait_for(child);
    check(list, 500);
}

static void *fork_thread(void *unused)
{
    fork_often();
    return unused;
}

int main(void)
{
    GC_INIT();
    fork_by_system_call();
    fork_often(); /* with one thread */
    pthread_t threads[THREADS], forker;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, churn, NULL);
    pthread_create(&forker, NULL, fork_thread, NULL);
    fork_often();
    pthread_join(forker, NULL);
    over = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
