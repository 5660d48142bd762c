// A sized delete with a size of another class is reported with both sizes.
// covers: 43
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: .*{ptr}.* 1000 .*64|^granary: .*{ptr}.*64.* 1000
// signal: SIGABRT
#include <cstddef>
#include <new>

int main()
{
    void *block = ::operator new(64);
    ::operator delete(block, std::size_t(1000));
    return 0;
}
