// C++ thread_local objects whose destructors allocate and free, in many threads, next to static
// objects and exit handlers that do the same at the end of the program.
// covers: 20
// also: GRANARY_DEBUG_ALLOC=1
// refuse: granary: (free|malloc|exit)
#include "test.h"
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

struct Talker {
    std::map<int, std::string> texts;
    std::unique_ptr<char[]> large{new char[50000]};
    Talker()
    {
        for (int i = 0; i < 50; i++)
            texts[i] = std::string(std::size_t(i * 10), 't');
    }
    ~Talker()
    {
        std::vector<std::string> copies;
        for (auto &entry : texts)
            copies.push_back(entry.second + "copy");
        CHECKED(copies.size() == 50);
    }
};

static Talker global;
static thread_local Talker local;
static thread_local std::shared_ptr<std::string> shared;

int main()
{
    atexit([] {
        Talker late;
        std::string text(10000, 'l');
    });
    auto everyones = std::make_shared<std::string>(300, 's');
    for (int round = 0; round < 50; round++) {
        std::vector<std::thread> threads;
        for (int i = 0; i < 8; i++)
            threads.emplace_back([&] {
                CHECKED(local.texts.size() == 50);
                shared = everyones;
            });
        for (auto &thread : threads)
            thread.join();
    }
    CHECKED(local.texts.size() == 50 && everyones.use_count() == 1);
    return 0;
}
