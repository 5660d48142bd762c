/* false_addresses: lists of 100,000 cells each are dropped while an array of numbers that look like addresses, among
 * them some of the heap's, is scanned: how much of what is dead do they keep? */
#include "collector.h"

struct cell {
    struct cell *next;
    uint64_t value[2];
};

enum { LISTS = 40, NUMBERS = 20000 };

int main(int argc, char **argv)
{
    collector_start(argc, argv);
    long length = scaled(100000, 1000);
    uint64_t seed = 17, checksum = 0;
    /* Numbers as programs have them: small ones, products, hashes, times, floating point. */
    uint64_t *numbers = need(GC_MALLOC(NUMBERS * sizeof *numbers));
    for (long i = 0; i < NUMBERS; i++) {
        double ratio = (double)random_below(&seed, 1 << 30) / 1024.0;
        uint64_t kinds[5] = {random_below(&seed, 1u << 31), random_next(&seed),
                             1700000000000000000u + (uint64_t)i * 977,
                             (uint64_t)i << 32 | random_below(&seed, 1u << 31), 0};
        memcpy(&kinds[4], &ratio, sizeof ratio);
        numbers[i] = kinds[i % 5];
    }
    size_t most = 0;
    for (int l = 0; l < LISTS; l++) {
        struct cell *list = NULL;
        for (long i = 0; i < length; i++) {
            struct cell *cell = need(GC_MALLOC(sizeof *cell));
            cell->next = list;
            cell->value[0] = (uint64_t)i;
            list = cell;
        }
        checksum += list->value[0];
    }
    GC_gcollect();
    GC_gcollect();
    size_t heap = GC_get_heap_size(), kept = heap - GC_get_free_bytes();
    if (kept > most)
        most = kept;
    checksum += mix(numbers[NUMBERS / 2] != 0);
    printf("kept_kib=%zu\nmade_kib=%zu\n", most / 1024, (size_t)length * LISTS * 32 / 1024);
    collector_finish(checksum);
}
