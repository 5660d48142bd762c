// Random calls of every function on a thousand live blocks, in several threads that also free each
// other's blocks: contents stay, blocks never overlap (a changed mark would show it), alignment
// holds.
// also: GRANARY_DEBUG_ALLOC=1
// also: GRANARY_ALLOC_RELEASE=0
// also: GRANARY_ALLOC_SYSTEM=1
// also: GRANARY_ALLOC_NORMAL=system
// sanitize: yes
#include "test.h"
#include <malloc.h>

enum { SLOTS = 1000, THREADS = 4, STEPS = 60000, EXCHANGED = 512 };

struct slot { unsigned char *block; size_t bytes; uint64_t seed; };

static pthread_mutex_t exchange_lock = PTHREAD_MUTEX_INITIALIZER;
static struct slot exchange[EXCHANGED];

static size_t random_size(uint64_t number)
{
    switch (number % 10) {
    case 0: return number >> 8 & 15;
    case 1: case 2: case 3: case 4: case 5: return (number >> 8) % 300;
    case 6: case 7: return (number >> 8) % TINY_BYTES_MAX;
    case 8: return (number >> 8) % SMALL_BYTES_MAX;
    default: return (number >> 8) % (100 * KIB);
    }
}

static void *allocate(uint64_t number, size_t bytes)
{
    size_t alignment = (size_t)16 << (number >> 4 & 7);
    void *block = NULL;
    switch (number >> 12 & 7) {
    case 0:
        block = calloc(1, bytes);
        CHECK(!block || is_zero(block, bytes), "calloc(%zu) is not zero", bytes);
        return block;
    case 1:
        CHECKED(posix_memalign(&block, alignment, bytes) == 0 && (uintptr_t)block % alignment == 0);
        return block;
    case 2:
        block = memalign(alignment, bytes);
        CHECKED((uintptr_t)block % alignment == 0);
        return block;
    default:
        return malloc(bytes);
    }
}

static void step(struct slot *slot, uint64_t number)
{
    if (!slot->block) {
        slot->bytes = random_size(number);
        slot->seed = number;
        slot->block = allocate(number >> 16, slot->bytes);
        CHECKED(slot->block != NULL && malloc_usable_size(slot->block) >= slot->bytes);
        fill_block(slot->block, slot->bytes, slot->seed);
        return;
    }
    check_block(slot->block, slot->bytes, slot->seed);
    if (number % 4 == 0) {
        size_t bytes = 1 + random_size(number >> 5);
        slot->block = realloc(slot->block, bytes);
        CHECKED(slot->block != NULL);
        if (slot->bytes >= 8 && bytes >= 8)
            CHECKED(memcmp(slot->block, &slot->seed, 8) == 0);
        slot->bytes = bytes;
        fill_block(slot->block, bytes, slot->seed);
    } else if (number % 4 == 1) {
        pthread_mutex_lock(&exchange_lock);
        struct slot *other = &exchange[number >> 20 & (EXCHANGED - 1)], swap = *other;
        *other = *slot;
        *slot = swap;
        pthread_mutex_unlock(&exchange_lock);
    } else {
        free(slot->block);
        slot->block = NULL;
    }
}

static void *churn(void *argument)
{
    uint64_t random = (uintptr_t)argument;
    struct slot *slots = calloc(SLOTS, sizeof *slots);
    for (int i = 0; i < STEPS; i++) {
        uint64_t number = random_next(&random);
        step(&slots[(number >> 40) % SLOTS], number);
    }
    for (int i = 0; i < SLOTS; i++)
        free(slots[i].block);
    free(slots);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        start_thread(&threads[i], churn, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        join_thread(threads[i]);
    for (int i = 0; i < EXCHANGED; i++)
        free(exchange[i].block);
    return 0;
}
