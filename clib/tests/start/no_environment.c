// A program started with an empty environment, and one started with no environment at all (envp is
// NULL), work. A preload would be lost with the environment, so the program is linked with the
// library.
// covers: 5
// only: granary
// library: none
// link: {granary}
// args: first
// expect-out: ^empty ok$
// expect-out: ^null ok$
#include "test.h"
#include "granary.h"

static void use_heap(void)
{
    static void *blocks[3000];
    for (size_t i = 0; i < 3000; i++) {
        blocks[i] = malloc(i * 13);
        fill_block(blocks[i], i * 13, i);
    }
    CHECK(granary_owns(blocks[5]), "the linked library does not serve malloc");
    for (size_t i = 0; i < 3000; i++) {
        check_block(blocks[i], i * 13, i);
        free(blocks[i]);
    }
    wait_ms(10);
    granary_idle();
}

static void run(char *mode, char **environment)
{
    pid_t pid = fork();
    if (pid == 0) {
        char *arguments[] = {"no_environment", mode, NULL};
        execve("/proc/self/exe", arguments, environment);
        _exit(9);
    }
    expect_child_ok(pid, mode);
}

int main(int argc, char **argv)
{
    CHECKED(argc == 2);
    use_heap();
    if (strcmp(argv[1], "first") == 0) {
        char *none[] = {NULL};
        run("empty", none);
        run("null", NULL);
        return 0;
    }
    printf("%s ok\n", argv[1]);
    return 0;
}
