// GC_LOG_FILE has a line a collection. The library keeps the file open under a number that neither takes the low ones
// from the program nor is lost to one that closes what it does not know.
// library: gc
// only: granary
// env: GC_LOG_FILE={dir}/log GC_PRINT_STATS=1
#include "check.h"

#include <fcntl.h>
#include <unistd.h>

enum { CLOSED_BY_DAEMONS = 256 };

static long lines(const char *path)
{
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    long count = 0;
    for (int c; (c = getc(file)) != EOF;)
        count += c == '\n';
    fclose(file);
    return count;
}

int main(void)
{
    GC_INIT();
    int first = open("/dev/null", O_RDONLY);
    CHECK(first == STDERR_FILENO + 1);
    GC_gcollect();
    long before = lines(getenv("GC_LOG_FILE"));
    CHECK(before > 0);
    for (int fd = STDERR_FILENO + 1; fd < CLOSED_BY_DAEMONS; fd++)
        close(fd);
    GC_gcollect();
    CHECK(lines(getenv("GC_LOG_FILE")) > before);
    return 0;
}
