// One thread opens and closes libraries, another walks them with dl_iterate_phdr and allocates in
// the call-back while the loader's lock is held, others allocate: no deadlock, also when every
// allocation records its stack.
// covers: 19
// plugin: nothing.c
// args: {nothing.so}
// also: GRANARY_DEBUG_ALLOC=1
// also: GRANARY_DEBUG_ALLOC=1 GRANARY_REPORT=text GRANARY_REPORT_FILE=/dev/null
#include "test.h"
#include <link.h>
#include <stdatomic.h>

static const char *plugin_path;
static atomic_bool stop;

static void *open_and_close(void *unused)
{
    for (int i = 0; i < 300; i++) {
        void *plugin = dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL);
        CHECK(plugin != NULL, "dlopen: %s", dlerror());
        CHECKED(dlclose(plugin) == 0);
    }
    atomic_store(&stop, 1);
    return unused;
}

static int visit(struct dl_phdr_info *info, size_t bytes, void *unused)
{
    (void)info;
    (void)unused;
    void *blocks[20];
    for (size_t i = 0; i < 20; i++)
        blocks[i] = malloc(bytes + i * 2000);
    for (size_t i = 0; i < 20; i++)
        free(blocks[i]);
    return 0;
}

static void *walk(void *unused)
{
    while (!atomic_load(&stop))
        dl_iterate_phdr(visit, NULL);
    return unused;
}

static void *churn(void *unused)
{
    for (size_t size = 0; !atomic_load(&stop); size = (size + 37) % 40000)
        free(malloc(size));
    return unused;
}

int main(int argc, char **argv)
{
    CHECKED(argc == 2);
    plugin_path = argv[1];
    pthread_t threads[4];
    start_thread(&threads[0], open_and_close, NULL);
    start_thread(&threads[1], walk, NULL);
    start_thread(&threads[2], walk, NULL);
    start_thread(&threads[3], churn, NULL);
    for (int i = 0; i < 4; i++)
        join_thread(threads[i]);
    return 0;
}
