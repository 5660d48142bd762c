// A program that limits its own address space gets no more blocks than that, whatever the heap had
// reserved before; room is left for its mappings, and what it frees can be used again.
// Not in debug mode, whose records stay reserved.
// covers: 29
// also: GRANARY_ALLOC_SYSTEM=1
#include "test.h"
#include <sys/resource.h>
#include <sys/wait.h>

enum { BLOCK_BYTES = 2000, BLOCKS_MOST = 400000 };
static char *blocks[BLOCKS_MOST];

static void set_with_setrlimit(const struct rlimit *limit) { CHECKED(setrlimit(RLIMIT_AS, limit) == 0); }
static void set_with_prlimit(const struct rlimit *limit) { CHECKED(prlimit(0, RLIMIT_AS, limit, NULL) == 0); }
static void set_own_pid(const struct rlimit *limit) { CHECKED(prlimit(getpid(), RLIMIT_AS, limit, NULL) == 0); }

static void use_up(void)
{
    size_t first = 0;
    for (int round = 0; round < 3; round++) {
        size_t count = 0;
        while (count < BLOCKS_MOST && (blocks[count] = malloc(BLOCK_BYTES)) != NULL)
            memset(blocks[count++], round, BLOCK_BYTES);
        CHECK(count < BLOCKS_MOST, "%zu MiB under a limit of 400", count * BLOCK_BYTES / MIB);
        if (round == 0)
            first = count;
        CHECK(count >= first / 2, "%zu blocks, %zu the first time", count, first);
        for (size_t i = 0; i < count; i++)
            free(blocks[i]);
    }
}

static void limited(void (*set)(const struct rlimit *))
{
    pid_t child = fork();
    CHECKED(child >= 0);
    if (child == 0) {
        set(&(struct rlimit){400 * MIB, 400 * MIB});
        void *own = mmap(NULL, 50 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(own != MAP_FAILED, "no room for a mapping: errno %d", errno);
        use_up();
        exit(0);
    }
    int status;
    CHECKED(waitpid(child, &status, 0) == child && status == 0);
}

int main(void)
{
    free(malloc(100));
    limited(set_with_setrlimit);
    limited(set_with_prlimit);
    limited(set_own_pid);
    return 0;
}
