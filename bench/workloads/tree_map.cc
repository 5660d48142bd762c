// tree_map: std::map is filled, looked up, half erased, filled again and torn down.
//
// Models indices and symbol tables in C++ programs: one node size, nodes allocated in random key
// order, so neighbours in the tree are not neighbours in memory; teardown frees in tree order. The
// figure includes the cache misses that the layout of the blocks causes.
#include <map>

#include "bench.h"

static uint64_t build_and_drop(struct bench_random *random, long count) {
  std::map<uint64_t, uint64_t> tree;
  uint64_t checksum = 0;
  for (long i = 0; i < count; i++) tree[bench_next(random)] = (uint64_t)i;
  long index = 0;
  for (auto it = tree.begin(); it != tree.end(); index++) {
    checksum += bench_mix(it->first + it->second);
    it = index % 2 == 0 ? tree.erase(it) : std::next(it);
  }
  for (long i = 0; i < count / 2; i++) tree[bench_next(random)] = (uint64_t)i;
  for (const auto &entry : tree) checksum += entry.second;
  return checksum;
}

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 1);
  struct bench_random random = bench_seed(11);
  long count = bench_scaled(&bench, 80000, 100);
  uint64_t checksum = 0;
  for (int round = 0; round < 16; round++) checksum += build_and_drop(&random, count);
  bench_finish(&bench, checksum);
  return 0;
}
