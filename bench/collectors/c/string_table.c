/* string_table: a hash table of 200,000 strings of 8 to 200 bytes whose entries are replaced two million times; strings
 * are pointer-free, entries and buckets are not. */
#include "collector.h"

struct entry {
    struct entry *next;
    char *key;
    uint64_t hash, value;
};

static uint64_t hash_of(const char *key, size_t length)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)key[i]) * 1099511628211u;
    return hash;
}

static char *new_key(uint64_t *seed, size_t *length)
{
    *length = 8 + random_below(seed, 193);
    char *key = need(GC_MALLOC_ATOMIC(*length + 1));
    uint64_t bits = random_next(seed);
    for (size_t i = 0; i < *length; i++) {
        key[i] = (char)('a' + (bits + i) % 26);
        bits = bits * 6364136223846793005u + 1442695040888963407u;
    }
    key[*length] = 0;
    return key;
}

int main(int argc, char **argv)
{
    collector_start(argc, argv);
    const size_t buckets = 1 << 17;
    long live = scaled(200000, 100), replaced = scaled(2000000, 1000);
    struct entry **table = need(GC_MALLOC(buckets * sizeof *table));
    uint64_t seed = 11, checksum = 0;
    for (long i = 0; i < live + replaced; i++) {
        size_t length;
        char *key = new_key(&seed, &length);
        uint64_t hash = hash_of(key, length);
        struct entry **bucket = &table[hash & (buckets - 1)];
        if (i >= live) {
            /* Drop the oldest entry of a bucket that has some. */
            struct entry **victim = &table[random_below(&seed, (uint32_t)buckets)];
            for (size_t tries = 0; *victim == NULL && tries < buckets; tries++)
                victim = victim + 1 < table + buckets ? victim + 1 : table;
            while ((*victim)->next != NULL)
                victim = &(*victim)->next;
            checksum += (*victim)->value + (unsigned char)(*victim)->key[0];
            *victim = NULL;
        }
        struct entry *entry = need(GC_MALLOC(sizeof *entry));
        entry->key = key;
        entry->hash = hash;
        entry->value = (uint64_t)i;
        entry->next = *bucket;
        *bucket = entry;
    }
    for (size_t b = 0; b < buckets; b++)
        for (struct entry *e = table[b]; e != NULL; e = e->next)
            checksum += mix(e->hash + e->value) + (e->hash == hash_of(e->key, strlen(e->key)));
    collector_finish(checksum);
}
