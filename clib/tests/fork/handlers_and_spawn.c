// pthread_atfork handlers of the program may allocate in all three places; vfork, posix_spawn,
// system and popen work while threads allocate.
// covers: 15
// cflags: -Wno-clobbered
// also: GRANARY_DEBUG_ALLOC=1
#include "test.h"
#include <spawn.h>
#include <stdatomic.h>

static atomic_bool stop;
static int prepared;
static void *from_prepare;

static void prepare(void)
{
    prepared++;
    from_prepare = malloc(777);
    free(malloc(40000));
}
static void in_parent(void)
{
    free(from_prepare);
    free(malloc(30));
}
static void in_child(void)
{
    free(from_prepare);
    for (size_t size = 0; size < 40000; size += 500)
        free(malloc(size));
}

static void *churn(void *unused)
{
    for (size_t size = 0; !atomic_load(&stop); size = (size + 97) % 50000)
        free(malloc(size));
    return unused;
}

int main(void)
{
    CHECKED(pthread_atfork(prepare, in_parent, in_child) == 0);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        start_thread(&threads[i], churn, NULL);
    for (int i = 0; i < 50; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            hang_limit_seconds(10);
            free(malloc(100));
            _exit(prepared > 0 ? 0 : 3);
        }
        expect_child_ok(pid, "fork");
        pid = vfork();
        if (pid == 0)
            _exit(0);
        expect_child_ok(pid, "vfork");
    }
    char *arguments[] = {"true", NULL};
    for (int i = 0; i < 10; i++) {
        pid_t pid;
        CHECKED(posix_spawnp(&pid, "true", NULL, NULL, arguments, environ) == 0);
        expect_child_ok(pid, "posix_spawn");
    }
    CHECKED(system("exit 7") >> 8 == 7);
    FILE *pipe = popen("echo from popen", "r");
    char line[64];
    CHECKED(pipe && fgets(line, sizeof line, pipe) && strcmp(line, "from popen\n") == 0);
    CHECKED(pclose(pipe) == 0);
    atomic_store(&stop, 1);
    for (int i = 0; i < 2; i++)
        join_thread(threads[i]);
    return 0;
}
