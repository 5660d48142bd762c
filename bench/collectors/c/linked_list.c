/* linked_list: a list of three million cells in an order that has nothing to do with addresses, beside which short
 * lists are made and dropped: every cell is found only through the one before it. */
#include "collector.h"

struct cell {
    struct cell *next;
    uint64_t value;
};

int main(int argc, char **argv)
{
    collector_start(argc, argv);
    long cells = scaled(3000000, 1000), churn = scaled(20000000, 1000);
    uint64_t seed = 7;
    /* The cells are made in one order and linked in another. */
    struct cell **order = need(GC_MALLOC((size_t)cells * sizeof *order));
    for (long i = 0; i < cells; i++) {
        order[i] = need(GC_MALLOC(sizeof *order[i]));
        order[i]->value = (uint64_t)i;
    }
    for (long i = cells - 1; i > 0; i--) {
        long j = random_below(&seed, (uint32_t)i + 1);
        struct cell *swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    struct cell *list = NULL;
    for (long i = 0; i < cells; i++) {
        order[i]->next = list;
        list = order[i];
    }
    GC_FREE(order);
    order = NULL;
    uint64_t checksum = 0;
    struct cell *brief = NULL;
    for (long i = 0; i < churn; i++) {
        struct cell *cell = need(GC_MALLOC(sizeof *cell));
        cell->value = (uint64_t)i;
        cell->next = i % 64 == 0 ? NULL : brief;
        brief = cell;
        if (i % 64 == 63)
            for (struct cell *c = brief; c != NULL; c = c->next)
                checksum += c->value;
    }
    for (struct cell *c = list; c != NULL; c = c->next)
        checksum += mix(c->value);
    collector_finish(checksum);
}
