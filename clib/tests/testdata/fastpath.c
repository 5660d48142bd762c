/* Calls one function until it is warm and marks one more call with two breakpoints, for a tracer
 * that counts the instructions in between. */
#include <stdlib.h>
#include <string.h>

void *_Znwm(size_t) __attribute__((weak));
void _ZdlPv(void *) __attribute__((weak));
void _ZdlPvm(void *, size_t) __attribute__((weak));

#define MARK() __asm__ volatile("int3" ::: "memory")

static void *volatile kept;

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    /* Fills the thread's list of the class with more blocks than one, as a running program has. */
    void *blocks[32];
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 32; i++)
            blocks[i] = malloc(64);
        for (int i = 0; i < 32; i++)
            free(blocks[i]);
    }
    kept = malloc(64);
    free(calloc(1, 64));
    if (strcmp(argv[1], "malloc") == 0) {
        MARK();
        kept = malloc(64);
        MARK();
    } else if (strcmp(argv[1], "free") == 0) {
        MARK();
        free(kept);
        MARK();
    } else if (strcmp(argv[1], "calloc") == 0) {
        MARK();
        kept = calloc(1, 64);
        MARK();
    } else if (strcmp(argv[1], "new") == 0 && _Znwm) {
        MARK();
        kept = _Znwm(64);
        MARK();
    } else if (strcmp(argv[1], "delete") == 0 && _ZdlPv) {
        MARK();
        _ZdlPv(kept);
        MARK();
    } else if (strcmp(argv[1], "sized delete") == 0 && _ZdlPvm) {
        MARK();
        _ZdlPvm(kept, 64);
        MARK();
    }
    return 0;
}
