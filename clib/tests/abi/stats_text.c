// malloc_stats writes to standard error what is really in use.
// covers: 45
// expect-out: ^in use: [1-9][0-9]{7}
// timeout: 20
#include "test.h"
#include <malloc.h>

// Finds the largest number after "in use bytes", as glibc's malloc_stats words it.
static unsigned long long largest_in_use(const char *text)
{
    unsigned long long largest = 0;
    for (const char *at = text; (at = strstr(at, "in use bytes")) != NULL; at++) {
        const char *digits = at + strcspn(at, "0123456789\n");
        unsigned long long value = strtoull(digits, NULL, 10);
        if (value > largest)
            largest = value;
    }
    return largest;
}

int main(void)
{
    for (int i = 0; i < 30000; i++)
        opaque_pointer(malloc(1000));
    int ends[2];
    CHECKED(pipe(ends) == 0);
    int saved = dup(2);
    dup2(ends[1], 2);
    malloc_stats();
    fflush(stderr);
    dup2(saved, 2);
    close(ends[1]);
    static char text[16384];
    ssize_t got;
    size_t length = 0;
    while ((got = read(ends[0], text + length, sizeof text - 1 - length)) > 0)
        length += (size_t)got;
    text[length] = 0;
    CHECK(length > 0, "malloc_stats wrote nothing to standard error");
    unsigned long long in_use = largest_in_use(text);
    CHECK(in_use >= 30000000, "malloc_stats speaks of %llu bytes in use:\n%s", in_use, text);
    printf("in use: %llu\n", in_use);
    return 0;
}
