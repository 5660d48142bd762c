/* large_arrays: 64 arrays of 256 KiB to 2 MiB that hold the addresses of small objects and are replaced in turn, as the
 * backing stores of vectors and hash tables are. */
#include "collector.h"

enum { ARRAYS = 64 };

struct item {
    uint64_t value, pad;
};

int main(int argc, char **argv)
{
    collector_start(argc, argv);
    struct item ***arrays = need(GC_MALLOC(ARRAYS * sizeof *arrays));
    size_t lengths[ARRAYS] = {0};
    long rounds = scaled(700, 80);
    uint64_t seed = 5, checksum = 0;
    for (long round = 0; round < rounds; round++) {
        uint32_t slot = random_below(&seed, ARRAYS);
        for (size_t i = 0; i < lengths[slot]; i += 64)
            checksum += arrays[slot][i] != NULL ? mix(arrays[slot][i]->value) : 0;
        size_t length = 32768 + random_below(&seed, 229376);
        struct item **array = need(GC_MALLOC_IGNORE_OFF_PAGE(length * sizeof *array));
        arrays[slot] = array;
        lengths[slot] = length;
        for (size_t i = 0; i < length; i += 8) {
            array[i] = need(GC_MALLOC(sizeof **array));
            array[i]->value = (uint64_t)round ^ i;
        }
    }
    collector_finish(checksum);
}
