// malloc_stats writes to standard error how much is really in use: in bytes, or in MiB.
// covers: 45
// expect-out: ^in use: [1-9][0-9]{7}
#include "test.h"
#include <malloc.h>

// Whether text has a number of bytes, alone or with the unit MiB, that fits what this program uses.
static double use_told(const char *text)
{
    while (*(text += strcspn(text, "0123456789"))) {
        char *end;
        double value = strtod(text, &end);
        if (strncmp(end, " MiB", 4) == 0)
            value *= MIB;
        if (value >= 30e6 && value < 45e6)
            return value;
        text = end;
    }
    return 0;
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
    double in_use = use_told(text);
    CHECK(in_use > 0, "malloc_stats does not tell of 30 MB in use:\n%s", text);
    printf("in use: %.0f\n", in_use);
    return 0;
}
