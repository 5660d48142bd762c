/* The libc's own allocator, under the names that it keeps for itself. It serves what the range does not: blocks of more
 * than 64 MiB, and all others when the range is full. Every pointer that is not ours goes back to it. */
#include "core.h"

#include <errno.h>
#include <malloc.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);
int __libc_mallopt(int option, int value);

/* The libc prepares its heap at its first call, with a call of getrandom. It does so here, while the process starts:
 * later the program may have shut itself into a sandbox that does not know that call. An option that does not exist
 * changes nothing, and takes no memory from the system as a first block would. */
void granary_system_start(void) { __libc_mallopt(0, 0); }

void *granary_system_malloc(size_t size) { return __libc_malloc(size); }

void *granary_system_calloc(size_t size) { return __libc_calloc(1, size); }

void *granary_system_realloc(void *block, size_t size) { return __libc_realloc(block, size); }

void *granary_system_aligned(size_t alignment, size_t size) { return __libc_memalign(alignment, size); }

/* glibc keeps errno in free since 2.33. */
void granary_system_free(void *block) { __libc_free(block); }

/* The libc's malloc_usable_size has no second name, so the size is read where glibc keeps it: the word in front of
 * the block is the chunk's size with three flag bits, of which 2 says that the chunk is a mapping of its own. Such a
 * chunk has 16 bytes of head inside its size, any other 8. tests/abi compares this with what glibc says. */
size_t granary_system_usable_size(const void *block)
{
    size_t head = ((const size_t *)block)[-1];
    size_t chunk = head & ~(size_t)7;
    return chunk - ((head & 2) != 0 ? 2 : 1) * sizeof(size_t);
}

void granary_system_no_memory(void) { errno = ENOMEM; }
