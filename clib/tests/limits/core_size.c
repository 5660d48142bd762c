// A core dump after 10 MB of use is small: the reserved range is not in it. Where the system passes
// cores to a program the sizes of the mappings that would be dumped are summed instead.
// covers: 31
#include "test.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { BLOCKS = 10000 };

static void use_and_abort(void)
{
    for (size_t i = 0; i < BLOCKS; i++)
        memset(malloc(1000), 1, 1000);
    void *large = malloc(5 * MIB);
    memset(large, 1, 5 * MIB);
    signal(SIGABRT, SIG_DFL);
    abort();
}

// The kernel writes private mappings that were ever written to, whole, unless marked otherwise
// ("dd").
static size_t dumpable_bytes(void)
{
    FILE *smaps = fopen("/proc/self/smaps", "r");
    CHECKED(smaps != NULL);
    char line[512];
    size_t sum = 0, size = 0, anonymous = 0;
    while (fgets(line, sizeof line, smaps)) {
        sscanf(line, "Size: %zu kB", &size);
        sscanf(line, "Anonymous: %zu kB", &anonymous);
        if (strncmp(line, "VmFlags:", 8) == 0 && anonymous > 0 && !strstr(line, " dd"))
            sum += size * KIB;
    }
    fclose(smaps);
    return sum;
}

int main(void)
{
    char pattern[256];
    read_text("/proc/sys/kernel/core_pattern", pattern, sizeof pattern);
    if (strcmp(pattern, "core\n") != 0) {
        for (size_t i = 0; i < BLOCKS; i++)
            memset(malloc(1000), 1, 1000);
        size_t bytes = dumpable_bytes();
        CHECK(bytes < 40 * MIB, "%zu KiB would be dumped", bytes / KIB);
        return 0;
    }
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    if (setrlimit(RLIMIT_CORE, &limit) != 0)
        return 0; // a hard limit of 0 for users
    pid_t pid = fork();
    if (pid == 0)
        use_and_abort();
    int status = wait_child(pid);
    CHECKED(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    char name[64];
    struct stat info;
    snprintf(name, sizeof name, "core.%d", (int)pid);
    if (stat(name, &info) != 0 && stat("core", &info) != 0)
        return 0; // the file system takes no cores
    CHECK(info.st_size < (off_t)(40 * MIB), "the core has %lld KiB",
          (long long)info.st_size / 1024);
    CHECK(info.st_size > (off_t)(10 * MIB), "the core lacks the blocks: %lld KiB",
          (long long)info.st_size / 1024);
    return 0;
}
