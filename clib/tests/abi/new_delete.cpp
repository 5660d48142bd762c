// All forms of new and delete work together: sizes, alignments, arrays, and blocks from one form
// that the language lets another one free.
// covers: 10
// also: GRANARY_DEBUG_ALLOC=1
// also: GRANARY_ALLOC_SYSTEM=1
#include "test.h"
#include <new>
#include <string>
#include <thread>
#include <vector>

struct alignas(128) Wide { char bytes[200]; };

int main()
{
    for (std::size_t size = 0; size < 50000; size += 1 + size / 9) {
        void *block = ::operator new(size);
        CHECKED(block != nullptr && (uintptr_t)block % 16 == 0);
        memset(block, 1, size);
        ::operator delete(block, size);
        block = ::operator new[](size);
        memset(block, 1, size);
        ::operator delete[](block, size);
        ::operator delete(::operator new(size, std::nothrow), std::nothrow);
        ::operator delete[](::operator new[](size, std::nothrow), std::nothrow);
        for (std::size_t bits = 0; bits < 14; bits++) {
            std::align_val_t alignment{std::size_t(1) << bits};
            void *aligned = ::operator new(size, alignment);
            CHECKED((uintptr_t)aligned % (std::size_t(1) << bits) == 0);
            memset(aligned, 2, size);
            ::operator delete(aligned, alignment);
            aligned = ::operator new[](size, alignment);
            ::operator delete[](aligned, size, alignment);
            aligned = ::operator new(size, alignment, std::nothrow);
            ::operator delete(aligned, size, alignment);
            aligned = ::operator new[](size, alignment, std::nothrow);
            ::operator delete[](aligned, alignment, std::nothrow);
            ::operator delete(::operator new(size, alignment), alignment, std::nothrow);
        }
    }
    ::operator delete(nullptr);
    ::operator delete[](nullptr, std::size_t(5));
    Wide *wide = new Wide[7];
    CHECKED((uintptr_t)wide % 128 == 0);
    delete[] wide;
    std::vector<std::string> words;
    for (int i = 0; i < 10000; i++)
        words.push_back(std::string(std::size_t(i % 300), 'x'));
    std::thread([moved = std::move(words)]() mutable { moved.clear(); }).join();
    return 0;
}
