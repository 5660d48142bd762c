// A program linked with the libc alone opens the library with RTLD_LOCAL: static TLS suffices, its
// functions work next to the libc's malloc, and dlclose leaves the mapping, since threads still
// have it in their exit lists.
// covers: 1 6
// only: granary
// library: none
// args: {lib}
#include "test.h"

typedef void *malloc_function(size_t);
typedef void free_function(void *);

static malloc_function *their_malloc;
static free_function *their_free;

static void *use(void *unused)
{
    for (size_t size = 0; size < 60000; size += 53) {
        void *block = their_malloc(size);
        CHECKED(block != NULL);
        memset(block, 1, size);
        // What the libc's malloc made may come to Granary's free, it belongs to the system
        // allocator.
        their_free(size % 2 ? block : malloc(size));
        if (size % 2 == 0)
            their_free(block);
    }
    return unused;
}

int main(int argc, char **argv)
{
    CHECKED(argc == 2);
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    CHECK(library != NULL, "dlopen: %s", dlerror());
    their_malloc = (malloc_function *)dlsym(library, "granary_malloc");
    their_free = (free_function *)dlsym(library, "granary_free");
    CHECKED(their_malloc && their_free);
    use(NULL);
    their_malloc = (malloc_function *)dlsym(library, "malloc");
    their_free = (free_function *)dlsym(library, "free");
    CHECKED(their_malloc && their_free && (void *)their_malloc != (void *)malloc);
    use(NULL);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        start_thread(&threads[i], use, NULL);
    for (int i = 0; i < 4; i++)
        join_thread(threads[i]);
    CHECKED(dlclose(library) == 0);
    Dl_info info;
    CHECK(dladdr((void *)their_malloc, &info) != 0, "dlclose unmapped the library");
    return 0;
}
