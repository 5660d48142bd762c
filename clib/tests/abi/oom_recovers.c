// With the address space limited, blocks run out with NULL and ENOMEM and not with a crash; when
// all are freed the same can be allocated again; and what was there before is unharmed.
// covers: 39
// also: GRANARY_DEBUG_ALLOC=1
// also: GRANARY_ALLOC_SYSTEM=1
#include "test.h"
#include <sys/resource.h>

struct link { struct link *next; };

static size_t fill_up(struct link **chain, size_t bytes)
{
    size_t count = 0;
    for (;;) {
        errno = 0;
        struct link *block = malloc(bytes);
        if (!block) {
            CHECK(errno == ENOMEM, "out of memory with errno %d", errno);
            return count;
        }
        block->next = *chain;
        *chain = block;
        count++;
    }
}

static void free_chain(struct link **chain)
{
    while (*chain) {
        struct link *next = (*chain)->next;
        free(*chain);
        *chain = next;
    }
}

static int child(size_t bytes)
{
    // The limit comes after the start of the library, which may have reserved more than that.
    size_t in_use = proc_field("/proc/self/status", "VmSize");
    struct rlimit limit = {in_use + 64 * MIB, in_use + 64 * MIB};
    CHECKED(setrlimit(RLIMIT_AS, &limit) == 0);
    char *kept = malloc(1000);
    CHECKED(kept != NULL);
    fill_block(kept, 1000, 1);
    struct link *chain = NULL;
    // RLIMIT_DATA bounds what is taken from an existing reservation as well.
    struct rlimit data = {100 * MIB, 100 * MIB};
    CHECKED(setrlimit(RLIMIT_DATA, &data) == 0);
    size_t first = fill_up(&chain, bytes);
    CHECK(first > 10, "only %zu blocks of %zu bytes fit", first, bytes);
    free_chain(&chain);
    size_t second = fill_up(&chain, bytes);
    CHECK(second >= first / 2, "%zu blocks of %zu bytes the first time, then %zu", first, bytes,
          second);
    free_chain(&chain);
    check_block(kept, 1000, 1);
    void *again = malloc(5000);
    CHECKED(again != NULL);
    free(again);
    free(kept);
    return 0;
}

int main(void)
{
    static const size_t sizes[] = {200, 16, 5000, 32768, 100000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(child(sizes[i]));
        expect_child_ok(pid, "filling memory");
    }
    return 0;
}
