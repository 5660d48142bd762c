// Under a limit of the address space or of the data, what small blocks left serves large ones: blocks of more than
// 64 MiB, for which there would be no new mapping. So it is with blocks that grow.
// Not in debug mode, which keeps freed blocks for a while.
// also: GRANARY_ALLOC_SYSTEM=1
#include "test.h"
#include <sys/resource.h>
#include <sys/wait.h>

enum { SMALL_BYTES = 1000 };

static size_t use_up(size_t bytes)
{
    void **newest = NULL, **one;
    size_t count = 0;
    for (; (one = malloc(bytes)) != NULL; count++) {
        *one = newest;
        newest = one;
    }
    CHECK(errno == ENOMEM, "errno is %d", errno);
    while (newest != NULL) {
        one = newest;
        newest = *one;
        free(one);
    }
    return count * bytes;
}

static void check_bytes(const unsigned char *block, size_t bytes, unsigned char value)
{
    for (size_t i = 0; i < bytes; i++)
        CHECK(block[i] == value, "byte %zu of %zu is %d, not %d", i, bytes, block[i], value);
}

static void limited(int resource, size_t small)
{
    pid_t child = fork();
    CHECKED(child >= 0);
    if (child == 0) {
        CHECKED(setrlimit(resource, &(struct rlimit){400 * MIB, 400 * MIB}) == 0);
        size_t had = use_up(small);
        CHECK(had > 200 * MIB, "%zu MiB under a limit of 400", had / MIB);
        unsigned char *large = malloc(200 * MIB);
        CHECK(large != NULL, "no 200 MiB, where %zu MiB of small blocks were", had / MIB);
        memset(large, 7, 200 * MIB);
        CHECKED(malloc(opaque_size(200 * MIB)) == NULL && errno == ENOMEM);
        free(large);
        large = calloc(1, 150 * MIB);
        CHECKED(large != NULL);
        check_bytes(large, 150 * MIB, 0);
        free(large);
        CHECKED(posix_memalign((void **)&large, 64, 150 * MIB) == 0 && (uintptr_t)large % 64 == 0);
        free(large);
        had = use_up(small);
        CHECK(had > 200 * MIB, "%zu MiB after the large blocks", had / MIB);
        exit(0);
    }
    int status;
    CHECKED(waitpid(child, &status, 0) == child && status == 0);
}

// A block of its own mapping that has to grow while there is only freed memory of the heap.
static void grows(void)
{
    pid_t child = fork();
    CHECKED(child >= 0);
    if (child == 0) {
        unsigned char *large = malloc(70 * MIB);
        CHECKED(large != NULL);
        memset(large, 3, 70 * MIB);
        CHECKED(setrlimit(RLIMIT_DATA, &(struct rlimit){400 * MIB, 400 * MIB}) == 0);
        use_up(SMALL_BYTES);
        large = realloc(large, 200 * MIB);
        CHECKED(large != NULL);
        check_bytes(large, 70 * MIB, 3);
        memset(large, 4, 200 * MIB);
        large = realloc(large, 100 * MIB);
        CHECKED(large != NULL);
        check_bytes(large, 100 * MIB, 4);
        free(large);
        exit(0);
    }
    int status;
    CHECKED(waitpid(child, &status, 0) == child && status == 0);
}

int main(void)
{
    free(malloc(100));
    limited(RLIMIT_AS, SMALL_BYTES);
    limited(RLIMIT_AS, 60 * KIB);
    limited(RLIMIT_DATA, SMALL_BYTES);
    limited(RLIMIT_DATA, 60 * KIB);
    grows();
    return 0;
}
