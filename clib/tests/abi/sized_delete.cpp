// A sized delete or free_sized with a wrong size (of another class) must not corrupt the heap: the
// block's own size counts. Programs do it by deleting through a base class without a virtual
// destructor.
// covers: 43
#include "test.h"
#include <new>

enum { BLOCKS = 4000 };

int main()
{
    typedef void sized(void *, std::size_t);
    sized *free_sized = reinterpret_cast<sized *>(find_function("free_sized"));
    static unsigned char *blocks[BLOCKS];
    static const std::size_t sizes[] = {8, 16, 48, 64, 100, 1000, 2048, 3000, 30000, 50000};
    uint64_t state = 3;
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < BLOCKS; i++) {
            std::size_t size = sizes[i % 10];
            blocks[i] = static_cast<unsigned char *>(::operator new(size));
            fill_block(blocks[i], size, (uint64_t)i);
        }
        for (int i = 0; i < BLOCKS; i += 2) {
            std::size_t wrong = sizes[random_next(&state) % 10];
            check_block(blocks[i], sizes[i % 10], (uint64_t)i);
            if (free_sized && i % 4)
                free_sized(blocks[i], wrong);
            else
                ::operator delete(static_cast<void *>(blocks[i]), wrong);
        }
        // New blocks of every size must not overlap the ones still alive.
        for (int i = 0; i < BLOCKS; i += 2) {
            blocks[i] = static_cast<unsigned char *>(::operator new(sizes[i % 10]));
            fill_block(blocks[i], sizes[i % 10], (uint64_t)i);
        }
        for (int i = 0; i < BLOCKS; i++)
            check_block(blocks[i], sizes[i % 10], (uint64_t)i);
        for (int i = 0; i < BLOCKS; i++)
            ::operator delete(blocks[i]);
    }
    return 0;
}
