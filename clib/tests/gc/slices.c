// With a limit of time a collection that an allocation begins comes in slices, also with much written meanwhile; the
// heap grows little in between, and nothing is lost.
// library: gc
// env: GC_ENABLE_INCREMENTAL=1 GC_PAUSE_TIME_TARGET=1
// also: GC_FULL_FREQUENCY=0
// only: granary
#include "check.h"

enum { DEPTH = 19, ROUNDS = 600, WRITES = 50 };

struct node {
    struct node *left, *right;
};

static unsigned stops, most, collections;

static void count(GC_EventType event)
{
    if (event == GC_EVENT_POST_STOP_WORLD)
        stops++;
    if (event != GC_EVENT_END)
        return;
    most = stops > most ? stops : most;
    stops = 0;
    collections++;
}

static struct node *tree(int depth)
{
    struct node *node = GC_malloc(sizeof *node);
    if (depth > 0) {
        node->left = tree(depth - 1);
        node->right = tree(depth - 1);
    }
    return node;
}

static long size(const struct node *node) { return node == NULL ? 0 : 1 + size(node->left) + size(node->right); }

int main(void)
{
    GC_INIT();
    struct node *volatile root = tree(DEPTH);
    GC_gcollect();
    size_t before = GC_get_heap_size();
    collections = stops = 0;
    GC_set_on_collection_event(count);
    unsigned random = 1;
    for (int round = 0; round < ROUNDS; round++) {
        tree(10);
        for (int i = 0; i < WRITES; i++) {
            struct node *node = root;
            for (int depth = 0; depth < DEPTH - 8; depth++, random = random * 1103515245 + 12345)
                node = random >> 30 & 1 ? node->left : node->right;
            struct node *left = node->left;
            node->left = node->right;
            node->right = left;
            if (i == 0)
                node->left = tree(7);
        }
    }
    CHECK(size(root) == (2l << DEPTH) - 1);
    CHECK(!GC_is_incremental_mode() || (collections > 0 && most >= 5));
    CHECK(GC_get_heap_size() < before * 3);
    return 0;
}
