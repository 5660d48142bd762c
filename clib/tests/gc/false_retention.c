// Numbers as programs have them, small ones, products, hashes, times and floating point, are scanned as if they were
// addresses, and keep next to nothing of 40 dead lists of 100,000 cells: less than one part in a hundred.
// library: gc
#include "check.h"

enum { LISTS = 40, LENGTH = 100000, NUMBERS = 20000, CELL_BYTES = 32 };

struct cell {
    struct cell *next;
    uint64_t value[2];
};

static uint64_t *numbers;

static void make_list(void *unused)
{
    (void)unused;
    struct cell *list = NULL;
    for (uint64_t i = 0; i < LENGTH; i++) {
        struct cell *cell = GC_malloc(sizeof *cell);
        cell->next = list;
        cell->value[0] = i;
        list = cell;
    }
    CHECK(list->value[0] == LENGTH - 1);
}

static void make_numbers(void *unused)
{
    (void)unused;
    uint64_t seed = 17;
    numbers = GC_malloc(NUMBERS * sizeof *numbers);
    for (uint64_t i = 0; i < NUMBERS; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        double ratio = (double)(seed >> 34) / 1024.0;
        uint64_t kinds[5] = {seed >> 33, seed, 1700000000000000000u + i * 977, i << 32 | seed >> 33, 0};
        memcpy(&kinds[4], &ratio, sizeof ratio);
        numbers[i] = kinds[i % 5];
    }
}

int main(void)
{
    GC_INIT();
    far_below(make_numbers, NULL);
    for (int list = 0; list < LISTS; list++)
        far_below(make_list, NULL);
    wipe_stack();
    GC_gcollect();
    GC_gcollect();
    size_t kept = GC_get_heap_size() - GC_get_free_bytes() - NUMBERS * sizeof *numbers;
    size_t made = (size_t)LISTS * LENGTH * CELL_BYTES;
    if (kept >= made / 100)
        fprintf(stderr, "%zu KiB of %zu KiB are kept\n", kept >> 10, made >> 10);
    CHECK(kept < made / 100);
    CHECK(numbers[1] != 0);
    return 0;
}
