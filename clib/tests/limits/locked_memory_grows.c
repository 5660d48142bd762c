// After mlockall the heap grows into address space that it has not reserved any more: the program's
// own mappings may lie there, and one directly behind the heap ends its range. Every block is served
// and taken back all the same, and whatever lies there is not touched.
// covers: 28 30
#include "test.h"

enum { BLOCKS = 40000, BLOCK_BYTES = 1000, LARGE = 200 };
static char *blocks[BLOCKS], *large[LARGE];

static void use_and_free(uint64_t seed)
{
    for (size_t i = 0; i < BLOCKS; i++) {
        CHECKED((blocks[i] = malloc(BLOCK_BYTES)) != NULL);
        fill_block(blocks[i], BLOCK_BYTES, seed + i);
    }
    for (size_t i = 0; i < LARGE; i++) {
        CHECKED((large[i] = malloc(40 * KIB + i * KIB)) != NULL);
        fill_block(large[i], 40 * KIB, seed + i);
    }
    for (size_t i = 0; i < LARGE; i++) {
        check_block(large[i], 40 * KIB, seed + i);
        free(large[i]);
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        check_block(blocks[i], BLOCK_BYTES, seed + i);
        free(blocks[i]);
    }
}

// The end of the mapping that holds an address, or of those that follow it without a gap.
static uintptr_t mapping_end(void *address)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    CHECKED(maps != NULL);
    char line[512];
    uintptr_t end = 0;
    unsigned long from, to;
    while (fgets(line, sizeof line, maps)) {
        CHECKED(sscanf(line, "%lx-%lx", &from, &to) == 2);
        if ((from <= (uintptr_t)address && (uintptr_t)address < to) || from == end)
            end = to;
    }
    fclose(maps);
    CHECKED(end != 0);
    return end;
}

int main(void)
{
    void *first = malloc(100);
    int result = mlockall(MCL_CURRENT); // refused in some containers, which changes nothing here
    CHECK(result == 0 || errno == EPERM || errno == ENOMEM, "mlockall: errno %d", errno);
    munlockall();
    void *own = mmap(NULL, 30 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECKED(own != MAP_FAILED);
    fill_block(own, 30 * MIB, 1);
    void *huge = malloc(100 * MIB); // a mapping of the libc's, perhaps where the heap was to grow
    CHECKED(huge != NULL);
    use_and_free(1000);
    uintptr_t end = mapping_end(first);
    void *wall = mmap((void *)end, 64 * KIB, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    CHECK(wall == (void *)end, "no mapping behind the heap: errno %d", errno);
    fill_block(wall, 64 * KIB, 2);
    for (uint64_t seed = 1; seed < 4; seed++) {
        static char *more[BLOCKS];
        for (size_t i = 0; i < BLOCKS; i++)
            CHECKED((more[i] = malloc(BLOCK_BYTES)) != NULL);
        use_and_free(seed);
        for (size_t i = 0; i < BLOCKS; i++)
            free(more[i]);
    }
    check_block(wall, 64 * KIB, 2);
    check_block(own, 30 * MIB, 1);
    free(realloc(huge, 120 * MIB));
    free(first);
    return 0;
}
