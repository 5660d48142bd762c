// The static library in a C++ program: new and delete, exceptions, threads.
// library: none
// only: granary
// link: {static} -ldl
#include "granary.h"
#include "test.h"
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

int main()
{
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++)
        threads.emplace_back([t] {
            for (int i = 0; i < 2000; i++) {
                try {
                    std::string text(std::size_t(i * (t + 1)), 'x');
                    if (i % 100 == 0)
                        throw std::runtime_error(text);
                } catch (const std::exception &) {
                }
            }
        });
    for (auto &thread : threads)
        thread.join();
    int *number = new int(5);
    CHECK(granary_owns(number), "new is not Granary's");
    delete number;
    bool thrown = false;
    try {
        opaque_pointer(::operator new(opaque_size(SIZE_MAX)));
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    CHECKED(thrown);
    return 0;
}
