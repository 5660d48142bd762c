// 100 forks out of a process with four threads that allocate in all classes: every child allocates,
// frees blocks of the parent's threads, starts a thread of its own, forks again and ends; parent
// and threads go on meanwhile.
// covers: 15
// also: GRANARY_DEBUG_ALLOC=1
// also: GRANARY_ALLOC_SYSTEM=1
#include "test.h"
#include <stdatomic.h>

enum { THREADS = 4, SHARED = 32, FORKS = 100 };

static atomic_bool stop;
static _Atomic(void *) shared[THREADS][SHARED];

static void *churn(void *argument)
{
    size_t index = (size_t)argument;
    uint64_t random = index + 1;
    while (!atomic_load(&stop)) {
        uint64_t number = random_next(&random);
        size_t limit = number % 200 == 0 ? 200 * KIB : number % 5 == 0 ? SMALL_BYTES_MAX : 1000;
        void *block = malloc((number >> 8) % limit);
        CHECKED(block != NULL);
        free(atomic_exchange(&shared[index][number >> 40 & (SHARED - 1)], block));
    }
    return NULL;
}

static void *allocate_some(void *unused)
{
    static __thread void *blocks[500];
    for (size_t i = 0; i < 500; i++)
        blocks[i] = malloc(i * 80);
    for (size_t i = 0; i < 500; i++)
        free(blocks[i]);
    return unused;
}

static void use_in_child(void)
{
    hang_limit_seconds(60);
    for (size_t i = 0; i < 2000; i++)
        free(malloc(i * 20));
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < SHARED; i++)
            free(atomic_exchange(&shared[t][i], NULL));
    allocate_some(NULL);
    pthread_t thread;
    start_thread(&thread, allocate_some, NULL);
    join_thread(thread);
}

// Each process of the chain waits for the next one.
static void child(int descendants)
{
    use_in_child();
    pid_t next = 0;
    while (descendants-- > 0 && (next = fork()) == 0)
        use_in_child();
    if (next)
        expect_child_ok(next, "descendant");
    _exit(0);
}

int main(void)
{
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        start_thread(&threads[i], churn, (void *)i);
    // Debug mode looks at every byte of what is freed; fewer forks keep the time.
    int forks = getenv("GRANARY_DEBUG_ALLOC") ? FORKS / 5 : FORKS;
    for (int i = 0; i < forks; i++) {
        free(malloc(100 + (size_t)i));
        pid_t pid = fork();
        if (pid == 0)
            child(i % 8 ? 0 : 3);
        expect_child_ok(pid, "child");
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < THREADS; i++)
        join_thread(threads[i]);
    return 0;
}
