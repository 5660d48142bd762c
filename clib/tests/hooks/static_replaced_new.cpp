// The static library in a program that replaces the plain operator new and delete: it links, and the
// forms that the program does not have call its own.
// library: none
// only: granary
// link: {static} -ldl
// covers: 10
#include "granary.h"
#include "test.h"
#include <new>

#pragma GCC diagnostic ignored "-Wsized-deallocation" // the library's are called

static long made, dropped;

void *operator new(std::size_t size)
{
    made++;
    return malloc(size);
}

void operator delete(void *block) noexcept
{
    dropped++;
    free(block);
}

int main()
{
    ::operator delete[](::operator new[](100), std::size_t(100));
    ::operator delete(::operator new(100, std::nothrow), std::nothrow);
    CHECK(made == 2 && dropped == 2, "%ld made, %ld dropped", made, dropped);
    CHECKED(granary_owns(malloc(10)));
    return 0;
}
