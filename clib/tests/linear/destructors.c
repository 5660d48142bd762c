// Destructors of thread data that run after ours allocate and free: their memory is sound, and their blocks come back.
// only: granary
// link: {granary}
#include "../test.h"
#include <granary.h>

static granary_linear *linear;
static pthread_key_t keys[4];
static int runs;

static void last_words(void *block)
{
    CHECKED(granary_linear_free(linear, block) == 0);
    if (++runs % 3 != 0) {
        char *p = granary_linear_alloc(linear, 100, 16);
        CHECKED(p != NULL);
        memset(p, 1, 100);
        CHECKED(pthread_setspecific(keys[runs % 4], p) == 0);
    }
}

static void *work(void *unused)
{
    (void)unused;
    for (int i = 0; i < 4; i++)
        CHECKED(pthread_setspecific(keys[i], granary_linear_alloc(linear, 64, 16)) == 0);
    return NULL;
}

int main(void)
{
    CHECKED(pthread_key_create(&keys[0], last_words) == 0 && pthread_key_create(&keys[1], last_words) == 0);
    linear = granary_linear_create(NULL, 0);
    CHECKED(linear != NULL);
    CHECKED(pthread_key_create(&keys[2], last_words) == 0 && pthread_key_create(&keys[3], last_words) == 0);
    for (int i = 0; i < 50; i++) {
        pthread_t thread;
        CHECKED(pthread_create(&thread, NULL, work, NULL) == 0 && pthread_join(thread, NULL) == 0);
    }
    CHECK(runs >= 200, "only %d destructors ran", runs);
    granary_linear_stats stats;
    CHECKED(granary_linear_get_stats(linear, &stats, sizeof stats) == 0);
    CHECK(stats.misuses == 0 && stats.blocks_used <= stats.live, "%lu blocks hold %lu allocations", stats.blocks_used,
          stats.live);
    CHECKED(granary_linear_destroy(linear) == 0);
    return 0;
}
