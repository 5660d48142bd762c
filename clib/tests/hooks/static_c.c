// The static library serves a whole program: linked into an otherwise dynamic one.
// library: none
// only: granary
// link: {static} -ldl
// also: GRANARY_DEBUG_ALLOC=1
#include "granary.h"
#include "test.h"

static void *use(void *unused)
{
    static __thread void *blocks[2000];
    for (size_t i = 0; i < 2000; i++) {
        blocks[i] = malloc(i * 30);
        fill_block(blocks[i], i * 30, i);
    }
    CHECK(granary_owns(blocks[3]), "malloc is not Granary's");
    for (size_t i = 0; i < 2000; i++) {
        check_block(blocks[i], i * 30, i);
        free(blocks[i]);
    }
    char *text = strdup("from the libc");
    CHECK(granary_owns(text), "the libc's own strdup does not use Granary");
    free(text);
    return unused;
}

int main(void)
{
    use(NULL);
    pthread_t thread;
    start_thread(&thread, use, NULL);
    join_thread(thread);
    pid_t pid = fork();
    if (pid == 0)
        _exit(use(NULL) != NULL);
    expect_child_ok(pid, "child");
    wait_ms(5);
    return 0;
}
