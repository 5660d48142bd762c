/* binary_trees: perfect binary trees of growing depth beside one of depth 20 that stays. */
#include "collector.h"

struct tree {
    struct tree *left, *right;
};

static struct tree *grow(int depth)
{
    struct tree *tree = need(GC_MALLOC(sizeof *tree));
    if (depth > 0) {
        tree->left = grow(depth - 1);
        tree->right = grow(depth - 1);
    }
    return tree;
}

static uint64_t count(const struct tree *tree)
{
    return tree->left == NULL ? 1 : 1 + count(tree->left) + count(tree->right);
}

int main(int argc, char **argv)
{
    collector_start(argc, argv);
    int most = collector_scale >= 1 ? 20 : 14;
    uint64_t checksum = count(grow(most + 1));
    struct tree *lasting = grow(most);
    for (int depth = 4; depth <= most; depth += 4) {
        long trees = 1L << (most - depth + 4);
        for (long i = 0; i < trees; i++)
            checksum += count(grow(depth)) * mix((uint64_t)depth);
    }
    checksum += count(lasting);
    collector_finish(checksum);
}
