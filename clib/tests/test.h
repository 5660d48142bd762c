/* test.h: what the test programs share. Nothing here allocates, unless it says so. */
#ifndef GRANARY_TESTS_TEST_H
#define GRANARY_TESTS_TEST_H

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

/* The tiers, as docs/compatibility.md and granary.h give them. */
#define TINY_BYTES_MAX (2 * KIB)
#define SMALL_BYTES_MAX (32 * KIB)

#define TEST_UNUSED __attribute__((unused))

/* Ends the program with exit status 1 and a message. Writes without stdio, which might allocate. */
TEST_UNUSED __attribute__((noreturn, format(printf, 3, 4)))
static void test_fail(const char *file, int line, const char *format, ...)
{
    char text[512];
    int length = snprintf(text, sizeof text, "%s:%d: ", file, line);
    va_list arguments;
    va_start(arguments, format);
    length += vsnprintf(text + length, sizeof text - (size_t)length - 1, format, arguments);
    va_end(arguments);
    if (length > (int)sizeof text - 2)
        length = (int)sizeof text - 2;
    text[length] = '\n';
    ssize_t written = write(2, text, (size_t)length + 1);
    (void)written;
    _exit(1);
}

#define FAIL(...) test_fail(__FILE__, __LINE__, __VA_ARGS__)
#define CHECK(condition, ...) \
    do { \
        if (!(condition)) \
            FAIL(__VA_ARGS__); \
    } while (0)
/* CHECK without words: the condition is the message. */
#define CHECKED(condition) CHECK(condition, "%s", #condition)

/* Keeps the compiler from knowing a value, so that it neither removes an allocation nor warns. */
TEST_UNUSED static inline size_t opaque_size(size_t value)
{
    __asm__ volatile("" : "+r"(value));
    return value;
}
TEST_UNUSED static inline void *opaque_pointer(void *value)
{
    __asm__ volatile("" : "+r"(value) : : "memory");
    return value;
}

/* A reproducible sequence of numbers: xorshift64*. The state must not be 0. */
TEST_UNUSED static inline uint64_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

TEST_UNUSED static inline int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits in poll, as an idle server does. */
TEST_UNUSED static inline void wait_ms(int milliseconds)
{
    int64_t end = now_ms() + milliseconds;
    for (int64_t left = milliseconds; left > 0; left = end - now_ms())
        poll(NULL, 0, (int)left);
}

/* Reads a small file of /proc into text, as a string. */
TEST_UNUSED static inline size_t read_text(const char *path, char *text, size_t text_bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0, "open %s: errno %d", path, errno);
    size_t length = 0;
    ssize_t got;
    while (length < text_bytes - 1 && (got = read(fd, text + length, text_bytes - 1 - length)) > 0)
        length += (size_t)got;
    close(fd);
    text[length] = 0;
    return length;
}

/* The bytes of this process in memory. */
TEST_UNUSED static inline size_t rss_bytes(void)
{
    char text[256];
    read_text("/proc/self/statm", text, sizeof text);
    size_t total = 0, resident = 0;
    CHECKED(sscanf(text, "%zu %zu", &total, &resident) == 2);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* A line "name: 123 kB" of a /proc/self file, in bytes. */
TEST_UNUSED static inline size_t proc_field(const char *path, const char *name)
{
    char text[8192];
    read_text(path, text, sizeof text);
    size_t name_length = strlen(name);
    for (char *line = text; line; line = strchr(line, '\n')) {
        if (*line == '\n')
            line++;
        if (strncmp(line, name, name_length) == 0 && line[name_length] == ':') {
            size_t unit = strstr(line, "kB") ? KIB : 1;
            return (size_t)strtoull(line + name_length + 1, NULL, 10) * unit;
        }
    }
    FAIL("%s has no line %s", path, name);
}

/* The number of mappings of this process. */
TEST_UNUSED static inline size_t mapping_count(void)
{
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    CHECKED(fd >= 0);
    static char text[65536];
    size_t count = 0;
    ssize_t got;
    while ((got = read(fd, text, sizeof text)) > 0)
        for (ssize_t i = 0; i < got; i++)
            count += text[i] == '\n';
    close(fd);
    return count;
}

/* Waits until at most limit bytes are in memory; fails if that takes longer than so long. */
TEST_UNUSED static inline void expect_rss_within(const char *what, size_t limit, int milliseconds)
{
    int64_t end = now_ms() + milliseconds;
    size_t rss = rss_bytes();
    while (rss > limit && now_ms() < end) {
        wait_ms(50);
        rss = rss_bytes();
    }
    CHECK(rss <= limit, "%s: %zu KiB in memory, expected at most %zu KiB", what, rss / KIB,
          limit / KIB);
}

/* Ends the process with the signal ALRM if it hangs: five times what is ample, as the machine may be busy. */
TEST_UNUSED static inline void hang_limit_seconds(unsigned seconds)
{
    alarm(5 * seconds);
}

/* Waits for a child and returns its status; fails if there is none. */
TEST_UNUSED static inline int wait_child(pid_t pid)
{
    int status = 0;
    CHECKED(pid > 0);
    pid_t got;
    do
        got = waitpid(pid, &status, 0);
    while (got < 0 && errno == EINTR);
    CHECK(got == pid, "waitpid: errno %d", errno);
    return status;
}

TEST_UNUSED static inline void expect_child_ok(pid_t pid, const char *what)
{
    int status = wait_child(pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: child ended with wait status 0x%x",
          what, status);
}

/* The content that block should have: every byte follows from a seed and its place. */
TEST_UNUSED static inline void fill_block(void *block, size_t bytes, uint64_t seed)
{
    memset(block, (int)(seed * 131 + bytes) & 0xff, bytes);
    if (bytes >= sizeof seed)
        memcpy(block, &seed, sizeof seed);
}
TEST_UNUSED static inline void check_block(const void *block, size_t bytes, uint64_t seed)
{
    const unsigned char *byte = (const unsigned char *)block;
    unsigned char want = (unsigned char)(seed * 131 + bytes);
    size_t start = 0;
    if (bytes >= sizeof seed) {
        CHECK(memcmp(block, &seed, sizeof seed) == 0, "block %p of %zu bytes lost its mark", block,
              bytes);
        start = sizeof seed;
    }
    if (bytes == start)
        return;
    CHECK(byte[start] == want && memcmp(byte + start, byte + start + 1, bytes - start - 1) == 0,
          "block %p of %zu bytes changed", block, bytes);
}

TEST_UNUSED static inline int is_zero(const void *block, size_t bytes)
{
    const unsigned char *byte = (const unsigned char *)block;
    return bytes == 0 || (byte[0] == 0 && memcmp(byte, byte + 1, bytes - 1) == 0);
}

/* Looks a function up that the test must do without when another allocator is under test. */
TEST_UNUSED static inline void *find_function(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

TEST_UNUSED static inline void start_thread(pthread_t *thread, void *(*run)(void *), void *argument)
{
    int error = pthread_create(thread, NULL, run, argument);
    CHECK(error == 0, "pthread_create: error %d", error);
}
TEST_UNUSED static inline void join_thread(pthread_t thread)
{
    int error = pthread_join(thread, NULL);
    CHECK(error == 0, "pthread_join: error %d", error);
}

#endif
