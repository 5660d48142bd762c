/* gcbench: trees that live briefly beside a tree and an array that live long, after Ellis, Kovac and Boehm's GCBench.
 */
#include "collector.h"

enum { STRETCH_DEPTH = 18, LONG_DEPTH = 16, LEAST_DEPTH = 4, MOST_DEPTH = 16, ARRAY_LENGTH = 500000 };

struct node {
    struct node *left, *right;
    int i, j;
};

static struct node *new_node(struct node *left, struct node *right)
{
    struct node *node = need(GC_MALLOC(sizeof *node));
    node->left = left;
    node->right = right;
    return node;
}

/* From the leaves up: a node is younger than its children. */
static struct node *bottom_up(int depth)
{
    if (depth == 0)
        return new_node(NULL, NULL);
    struct node *left = bottom_up(depth - 1);
    return new_node(left, bottom_up(depth - 1));
}

/* From the root down: a node is older. */
static void top_down(int depth, struct node *node)
{
    if (depth == 0)
        return;
    node->left = new_node(NULL, NULL);
    node->right = new_node(NULL, NULL);
    top_down(depth - 1, node->left);
    top_down(depth - 1, node->right);
}

static uint64_t count(const struct node *node)
{
    return node == NULL ? 0 : 1 + count(node->left) + count(node->right);
}

int main(int argc, char **argv)
{
    collector_start(argc, argv);
    uint64_t checksum = 0;
    long repeats = scaled(3, 1);
    struct node *stretch = bottom_up(STRETCH_DEPTH);
    checksum += count(stretch);
    stretch = NULL;
    struct node *lasting = new_node(NULL, NULL);
    top_down(LONG_DEPTH, lasting);
    double *array = need(GC_MALLOC_ATOMIC(ARRAY_LENGTH * sizeof *array));
    for (int i = 0; i < ARRAY_LENGTH; i++)
        array[i] = 1.0 / (i + 1);
    for (long repeat = 0; repeat < repeats; repeat++) {
        for (int depth = LEAST_DEPTH; depth <= MOST_DEPTH; depth += 2) {
            long trees = 2L << (STRETCH_DEPTH - depth);
            for (long i = 0; i < trees; i++) {
                struct node *tree = new_node(NULL, NULL);
                top_down(depth, tree);
                checksum += tree->left != NULL;
            }
            for (long i = 0; i < trees; i++)
                checksum += count(bottom_up(depth)->left);
        }
    }
    checksum += count(lasting) + (uint64_t)(array[1000] * 1e9);
    collector_finish(checksum);
}
