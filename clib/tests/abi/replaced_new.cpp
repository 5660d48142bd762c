// A program that replaces only the plain operator new and delete gets every block of the other forms
// through them: arrays, nothrow, sizes, and what the C++ library allocates with nothrow and frees
// with the plain delete, as std::stable_sort does. The same for the aligned forms, and for a program
// whose array forms are its own too.
// covers: 8 10 44
// also: GRANARY_DEBUG_ALLOC=1
// also: GRANARY_ALLOC_SYSTEM=1
#include "test.h"
#include <algorithm>
#include <new>
#include <thread>
#include <vector>

#pragma GCC diagnostic ignored "-Wsized-deallocation" // those are what is tested

static long made, dropped;
static bool refuse;

// A block has its alignment and a mark in front, so that one of another allocator is seen.
enum : std::size_t { MARK = 0x6d61726b };

static void *make(std::size_t size, std::size_t alignment)
{
    if (refuse)
        throw std::bad_alloc();
    unsigned char *start = static_cast<unsigned char *>(aligned_alloc(alignment, size + alignment));
    CHECKED(start != nullptr);
    __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
    std::size_t *block = reinterpret_cast<std::size_t *>(start + alignment);
    block[-1] = MARK;
    block[-2] = alignment;
    return block;
}

static void drop(void *block)
{
    if (block == nullptr)
        return;
    std::size_t *words = static_cast<std::size_t *>(block);
    CHECKED(words[-1] == MARK);
    words[-1] = 0;
    __atomic_add_fetch(&dropped, 1, __ATOMIC_RELAXED);
    free(static_cast<unsigned char *>(block) - words[-2]);
}

void *operator new(std::size_t size) { return make(size, 16); }
void *operator new(std::size_t size, std::align_val_t a) { return make(size, std::size_t(a)); }
void operator delete(void *block) noexcept { drop(block); }
void operator delete(void *block, std::align_val_t) noexcept { drop(block); }

struct alignas(64) Wide { char bytes[64]; };

// How many blocks a call made; each of them has to be dropped again by what follows.
template <typename F> static void expect(long count, F call)
{
    long before = made;
    call();
    CHECK(made - before == count, "%ld blocks, not %ld", made - before, count);
    CHECK(made == dropped, "%ld blocks made, %ld dropped", made, dropped);
}

// A pair of new and delete may be left out by the compiler, unless the block goes through here.
template <typename T> static T *used(T *block)
{
    __asm__ volatile("" : "+r"(block));
    return block;
}

static void arrays()
{
    const std::nothrow_t &n = std::nothrow;
    std::align_val_t a{64};
    expect(2, [&] { delete[] used(new int[10]); ::operator delete[](::operator new[](100), std::size_t(100)); });
    expect(2, [&] { delete used(new (n) int); delete[] used(new (n) int[10]); });
    expect(2, [&] { ::operator delete(::operator new(5, n), n); ::operator delete[](::operator new[](5, n), n); });
    expect(2, [&] { delete used(new Wide); delete[] used(new Wide[3]); });
    expect(1, [&] { ::operator delete(::operator new(5, a, n), a, n); });
    expect(1, [&] { ::operator delete[](::operator new[](5, a, n), a, n); });
    expect(1, [&] { ::operator delete(::operator new(5, a), 5, a); });
    expect(1, [&] { ::operator delete[](::operator new[](5, a), 5, a); });
}

static void refused()
{
    refuse = true;
    CHECKED(::operator new(5, std::nothrow) == nullptr);
    CHECKED(::operator new[](5, std::nothrow) == nullptr);
    CHECKED(::operator new(5, std::align_val_t(64), std::nothrow) == nullptr);
    CHECKED(::operator new[](5, std::align_val_t(64), std::nothrow) == nullptr);
    bool thrown = false;
    try {
        ::operator delete[](::operator new[](5));
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    CHECKED(thrown);
    refuse = false;
}

int main()
{
    arrays();
    refused();
    expect(2, [] {
        std::vector<int> numbers(10000);
        for (std::size_t i = 0; i < numbers.size(); i++)
            numbers[i] = int(i * 7919 % 10007);
        std::stable_sort(numbers.begin(), numbers.end());
        CHECKED(std::is_sorted(numbers.begin(), numbers.end()));
    });
    std::thread([] { std::vector<int>(1000).clear(); }).join();
    CHECKED(made == dropped);
    return 0;
}
