/* hash_table: a chained table of up to 200000 entries with string keys; inserts, look-ups,
 * overwrites and random deletes.
 *
 * Models the core of a cache or a symbol table in C: an entry, its key and its value are three
 * blocks of different sizes; the table grows by rehashing. The figure mixes allocation with the
 * cache misses of chains.
 */
#include "bench.h"

struct entry {
  struct entry *next;
  char *key;
  char *value;
  uint32_t hash;
};

struct table {
  struct entry **buckets;
  size_t bucket_count;
  size_t used;
};

static void grow(struct table *table) {
  size_t count = table->bucket_count == 0 ? 64 : table->bucket_count * 2;
  struct entry **buckets = calloc(count, sizeof *buckets);
  if (buckets == NULL) bench_fail("out of memory");
  for (size_t i = 0; i < table->bucket_count; i++) {
    struct entry *next;
    for (struct entry *entry = table->buckets[i]; entry != NULL; entry = next) {
      next = entry->next;
      entry->next = buckets[entry->hash & (count - 1)];
      buckets[entry->hash & (count - 1)] = entry;
    }
  }
  free(table->buckets);
  table->buckets = buckets;
  table->bucket_count = count;
}

static struct entry **find(struct table *table, const char *key, uint32_t hash) {
  struct entry **link = &table->buckets[hash & (table->bucket_count - 1)];
  while (*link != NULL && ((*link)->hash != hash || strcmp((*link)->key, key) != 0))
    link = &(*link)->next;
  return link;
}

static char *make_value(uint32_t number, size_t length) {
  char *value = malloc(length + 1);
  if (value == NULL) bench_fail("out of memory");
  memset(value, 'a' + (int)(number % 26), length);
  value[length] = 0;
  return value;
}

static void drop(struct entry *entry) {
  free(entry->key);
  free(entry->value);
  free(entry);
}

static void put(struct table *table, uint32_t number, struct bench_random *random) {
  char key[32];
  snprintf(key, sizeof key, "customer:%u", number);
  uint32_t hash = (uint32_t)bench_mix(number);
  if (table->used >= table->bucket_count) grow(table);
  struct entry **link = find(table, key, hash);
  char *value = make_value(number, bench_skewed(random, 8, 400));
  if (*link != NULL) {
    free((*link)->value);
    (*link)->value = value;
    return;
  }
  struct entry *entry = malloc(sizeof *entry);
  if (entry == NULL) bench_fail("out of memory");
  *entry = (struct entry){NULL, strdup(key), value, hash};
  if (entry->key == NULL) bench_fail("out of memory");
  *link = entry;
  table->used++;
}

static void delete_random(struct table *table, struct bench_random *random) {
  size_t at = bench_next(random) & (table->bucket_count - 1);
  struct entry *entry = table->buckets[at];
  if (entry == NULL) return;
  table->buckets[at] = entry->next;
  table->used--;
  drop(entry);
}

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 1);
  struct bench_random random = bench_seed(26);
  struct table table = {NULL, 0, 0};
  grow(&table);
  long operations = bench_scaled(&bench, 700000, 2000);
  for (long i = 0; i < operations; i++) {
    put(&table, bench_below(&random, 200000), &random);
    if (i % 3 == 0) delete_random(&table, &random);
    if (i % 200000 == 199999) /* a burst of expiry */
      for (int k = 0; k < 60000; k++) delete_random(&table, &random);
  }
  uint64_t checksum = table.used;
  for (size_t i = 0; i < table.bucket_count; i++) {
    struct entry *next;
    for (struct entry *entry = table.buckets[i]; entry != NULL; entry = next) {
      next = entry->next;
      checksum += bench_mix(entry->hash + strlen(entry->value) + (unsigned char)entry->value[0]);
      drop(entry);
    }
  }
  free(table.buckets);
  bench_finish(&bench, checksum);
  return 0;
}
