// Blocks that the libc allocated for the program are the program's to free: a copy of a string, a
// stream. Static functions have their names, although the program does not export them.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// expect: ^granary: leak: 1 block, [0-9]+ bytes, allocated at:
// expect: ^    #[0-9]+ 0x[0-9a-f]+ open_stream\+0x[0-9a-f]+ \(.*leak_of_calls
// expect: ^granary: leak: 1 block, 6 bytes, allocated at:
// expect: ^    #[0-9]+ 0x[0-9a-f]+ copy_name\+0x[0-9a-f]+ \(.*leak_of_calls
// expect: ^granary: 2 blocks \([0-9]+ bytes\) were never freed
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *volatile last;

__attribute__((noinline)) static void copy_name(const char *name)
{
    last = strdup(name);
    __asm__ volatile("" ::: "memory"); // the call is not the last thing the function does
}

__attribute__((noinline)) static void open_stream(const char *path)
{
    last = fopen(path, "r");
    __asm__ volatile("" ::: "memory");
}

int main(void)
{
    copy_name("there");
    open_stream("/dev/null");
    return 0;
}
