// strings: words are cut from generated text, counted in an unordered_map, joined and split again.
//
// Models text processing in C++: std::string blocks of 17 to 200 bytes that are copied and moved,
// vectors that grow, hash nodes. The figure is the usual mix of allocation and work in such a
// program, not the bare allocator.
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bench.h"

static std::string make_word(struct bench_random *random) {
  static const char letters[] = "etaoinshrdlucmfwypvbgkjqxz";
  size_t length = bench_skewed(random, 4, 90);
  std::string word;
  for (size_t i = 0; i < length; i++) word += letters[bench_below(random, 26)];
  return word;
}

static std::string make_line(const std::vector<std::string> &words, struct bench_random *random) {
  std::string line;
  for (int i = 0; i < 12; i++) {
    if (i > 0) line += ' ';
    line += words[bench_below(random, (uint32_t)words.size())];
  }
  return line;
}

static std::vector<std::string> split(const std::string &line) {
  std::vector<std::string> parts;
  size_t from = 0;
  for (size_t at = line.find(' '); at != std::string::npos; at = line.find(' ', from)) {
    parts.push_back(line.substr(from, at - from));
    from = at + 1;
  }
  parts.push_back(line.substr(from));
  return parts;
}

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 1);
  struct bench_random random = bench_seed(12);
  long lines = bench_scaled(&bench, 220000, 100);
  std::vector<std::string> words;
  for (int i = 0; i < 20000; i++) words.push_back(make_word(&random));
  std::unordered_map<std::string, uint64_t> counts;
  std::vector<std::string> recent(512);
  uint64_t checksum = 0;
  for (long i = 0; i < lines; i++) {
    std::string line = make_line(words, &random);
    for (std::string &part : split(line)) {
      checksum += part.size();
      counts[std::move(part)] += (uint64_t)i;
    }
    recent[bench_below(&random, 512)] = std::move(line);
    if (counts.size() > 15000 && i % 64 == 0) {
      auto it = counts.begin();
      counts.erase(it->first);
      // Which entry comes first depends on the hash table alone, not on addresses.
    }
  }
  for (const auto &entry : counts) checksum += bench_mix(entry.second + entry.first.size());
  for (const auto &line : recent) checksum += line.size();
  bench_finish(&bench, checksum);
  return 0;
}
