// What keeps an object alive: static data, the stack, registers, thread-local variables of the program, of a library
// and of one that was opened late, in each thread; ranges that the program names.
// library: gc
// plugin: holder.c
// args: {holder.so}
// only: granary
#include "check.h"

#include <dlfcn.h>
#include <pthread.h>

static void *volatile in_data = (void *)1;
static void *volatile in_bss;
static __thread void *volatile in_tls;
static __thread void *volatile in_initialised_tls = (void *)1;

enum { OBJECTS = 20 };
static long *hidden[OBJECTS]; /* complements: no roots */

static void *make(int number)
{
    long *object = GC_malloc(100);
    object[0] = 4711 + number;
    hidden[number] = (long *)~(uintptr_t)object;
    void **link = (void **)&hidden[number];
    GC_general_register_disappearing_link(link, object);
    return object;
}

static int lives(int number)
{
    return hidden[number] != NULL && *(long *)~(uintptr_t)hidden[number] == 4711 + number;
}

struct holder {
    void **(*data)(void), **(*tls)(void);
};
static struct holder late;

static void fill_thread(void *base)
{
    int number = *(int *)base;
    in_tls = make(number);
    in_initialised_tls = make(number + 1);
    *late.tls() = make(number + 2);
}

static pthread_barrier_t barrier;

static void *thread(void *base)
{
    far_below(fill_thread, base);
    wipe_stack();
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    CHECK(in_tls != NULL);
    return NULL;
}

static void fill_main(void *unused)
{
    (void)unused;
    in_data = make(0);
    in_bss = make(1);
    *late.data() = make(2);
    int base = 3;
    fill_thread(&base);
    make(19); /* nothing holds it */
}

static void collect(void)
{
    wipe_stack();
    for (int i = 0; i < 3; i++)
        GC_gcollect();
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    void *library = dlopen(argv[1], RTLD_NOW);
    CHECK(library != NULL);
    late.data = (void **(*)(void))dlsym(library, "holder_data");
    late.tls = (void **(*)(void))dlsym(library, "holder_tls");
    far_below(fill_main, NULL);
    int bases[2] = {7, 11};
    pthread_t threads[2];
    pthread_barrier_init(&barrier, NULL, 3);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, thread, &bases[i]);
    pthread_barrier_wait(&barrier);
    collect();
    for (int i = 0; i < 14; i++)
        if (i != 6 && i != 10 && !lives(i)) {
            fprintf(stderr, "object %d is lost\n", i);
            return 1;
        }
    CHECK(hidden[19] == NULL);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    in_data = in_bss = *late.data() = in_tls = in_initialised_tls = *late.tls() = NULL;
    collect();
    for (int i = 0; i < 14; i++)
        CHECK(hidden[i] == NULL);
    return 0;
}
