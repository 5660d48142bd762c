// granary.h works from C++, and so do containers of a program linked with the library.
// library: none
// only: granary
// link: {granary}
#include "granary.h"
#include "test.h"
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

template <typename T> struct GranaryAllocator {
    using value_type = T;
    GranaryAllocator() = default;
    template <typename U> GranaryAllocator(const GranaryAllocator<U> &) {}
    T *allocate(std::size_t count)
    {
        void *block = granary_malloc(count * sizeof(T));
        if (!block)
            throw std::bad_alloc();
        return static_cast<T *>(block);
    }
    void deallocate(T *block, std::size_t) { granary_free(block); }
    bool operator==(const GranaryAllocator &) const { return true; }
    bool operator!=(const GranaryAllocator &) const { return false; }
};

int main()
{
    std::vector<int, GranaryAllocator<int>> numbers;
    for (int i = 0; i < 100000; i++)
        numbers.push_back(i);
    CHECKED(numbers[99999] == 99999);
    std::map<int, std::string> words;
    for (int i = 0; i < 5000; i++)
        words[i * 7 % 5000] = std::string(std::size_t(i % 100), 'w');
    CHECKED(granary_owns(words[99 * 7 % 5000].data()));
    auto shared = std::make_shared<std::string>(2000, 's');
    CHECKED(granary_owns(shared.get()) && granary_owns(shared->data()));
    try {
        throw std::runtime_error(std::string(500, 'e'));
    } catch (const std::exception &error) {
        CHECKED(strlen(error.what()) == 500);
    }
    return 0;
}
