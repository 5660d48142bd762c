// Containers of the standard library in memory that lives a few frames: words are counted by several threads, each
// frame another text, and the counts of a frame are read by the next one. It ends with the usage report.
//
//   g++ -std=c++17 -O2 main.cpp -lgranary -pthread -o pmr && ./pmr 100
#include "linear_resource.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using words = std::pmr::vector<std::pmr::string>;
using counts = std::pmr::map<std::pmr::string, int>;

static const char *const text[] = {"the", "block", "whose", "last", "allocation", "is freed", "goes back",
                                   "to the pool",
                                   "a word that is longer than what fits into the string itself"};

// Counts the words of a part of a frame. What it needs meanwhile lies on the stack, the result lives until the next
// frame is over.
static void count(int frame, int part, counts &result, granary_stack *stack)
{
    stack_scope scratch(stack);
    words list(&scratch);
    for (int i = 0; i < 1000; i++)
        list.emplace_back(text[(i * (part + 1) + frame) % (sizeof text / sizeof *text)]);
    std::sort(list.begin(), list.end());
    for (auto &word : list)
        result[word]++;
}

int main(int argc, char **argv)
{
    const int frames = argc > 1 ? std::atoi(argv[1]) : 100;
    const int parts = 4;
    granary_linear_config config{};
    config.name = "JOB_2_FRAMES";
    config.block_bytes = 256 << 10;
    config.max_age = 2;
    granary_linear *linear = granary_linear_create(&config, sizeof config);
    std::vector<granary_stack *> stacks;
    for (int i = 0; linear != nullptr && i < parts; i++)
        stacks.push_back(granary_stack_create(linear, ("Job.Worker " + std::to_string(i)).c_str(), 64 << 10));
    if (linear == nullptr || std::count(stacks.begin(), stacks.end(), nullptr) != 0) {
        std::perror("no memory for the allocators");
        return 1;
    }
    long total = 0;
    {
        linear_resource resource(linear);
        std::optional<std::pmr::vector<counts>> before;
        for (int frame = 0; frame < frames; frame++) {
            std::pmr::vector<counts> now(parts, &resource);
            std::vector<std::thread> threads;
            for (int part = 0; part < parts; part++)
                threads.emplace_back([&, part] { count(frame, part, now[part], stacks[part]); });
            for (auto &thread : threads)
                thread.join();
            if (before)
                for (auto &part : *before)
                    for (auto &[word, n] : part)
                        total += n;
            before.reset(); // the main thread frees what the others made
            before.emplace(std::move(now));
            granary_linear_next_frame(linear);
        }
    }
    std::printf("%ld words\n", total);
    std::fflush(stdout);
    int failed = granary_linear_report(linear, stacks.data(), stacks.size(), 1);
    for (auto *stack : stacks)
        granary_stack_destroy(stack);
    granary_linear_stats stats{};
    granary_linear_get_stats(linear, &stats, sizeof stats);
    failed |= stats.live != 0 || stats.overdue != 0;
    return granary_linear_destroy(linear) != 0 || failed != 0;
}
