// A program that frees all prints nothing in debug mode.
// only: granary
// env: GRANARY_DEBUG_ALLOC=1
// refuse: granary
// sanitize: yes
#include <stdlib.h>
#include <string.h>

static void *run(void *unused)
{
    for (size_t size = 1; size < 50000; size += 301)
        free(calloc(1, size));
    return unused;
}

int main(void)
{
    run(NULL);
    char *text = strdup("freed");
    text = realloc(text, 1000);
    free(text);
    return 0;
}
