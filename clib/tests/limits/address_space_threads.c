// With 300 MB of address space from the start, 20 threads allocate, exchange and free; running out
// gives NULL with ENOMEM; then all works again.
// covers: 12 29 39
// args: first
// also: GRANARY_DEBUG_ALLOC=1
#include "test.h"
#include <sys/resource.h>

static void *run(void *unused)
{
    void **blocks = calloc(3000, sizeof *blocks);
    CHECKED(blocks != NULL);
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < 3000; i++)
            blocks[i] = malloc(i % 700);
        for (size_t i = 0; i < 3000; i++)
            free(blocks[i]);
    }
    free(blocks);
    return unused;
}

static void run_out(void)
{
    struct link { struct link *next; } *chain = NULL, *block;
    size_t count = 0;
    while ((block = malloc(1000)) != NULL) {
        block->next = chain;
        chain = block;
        count++;
    }
    CHECK(errno == ENOMEM, "errno is %d", errno);
    CHECK(count > 20000 && count < 400000, "%zu blocks fit into 300 MB", count);
    for (; chain; chain = block) {
        block = chain->next;
        free(chain);
    }
}

int main(int argc, char **argv)
{
    if (argc == 2) {
        struct rlimit limit = {300 * MIB, 300 * MIB};
        CHECKED(setrlimit(RLIMIT_AS, &limit) == 0);
        execl("/proc/self/exe", argv[0], NULL);
        FAIL("exec: errno %d", errno);
    }
    pthread_attr_t attributes;
    CHECKED(pthread_attr_init(&attributes) == 0);
    CHECKED(pthread_attr_setstacksize(&attributes, 64 * KIB) == 0);
    pthread_t threads[20];
    for (int i = 0; i < 20; i++)
        CHECKED(pthread_create(&threads[i], &attributes, run, NULL) == 0);
    for (int i = 0; i < 20; i++)
        join_thread(threads[i]);
    run_out();
    run(NULL);
    return 0;
}
