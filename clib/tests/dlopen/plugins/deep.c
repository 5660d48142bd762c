/* A plug-in that binds to the libc first when it is opened with RTLD_DEEPBIND. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int deep_run(void)
{
    for (int i = 0; i < 200; i++) {
        char *text = NULL;
        if (asprintf(&text, "%0*d", 1 + i * 20, i) < 0)
            return 1;
        char *copy = strdup(text);
        text = realloc(text, strlen(text) + 1000);
        if (!text || !copy || strcmp(text, copy) != 0)
            return 2;
        free(copy);
        free(text);
    }
    char *line = NULL;
    size_t line_bytes = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    while (file && getline(&line, &line_bytes, file) > 0)
        ;
    if (file)
        fclose(file);
    free(line);
    char *buffer = NULL;
    size_t buffer_bytes = 0;
    FILE *memory = open_memstream(&buffer, &buffer_bytes);
    for (int i = 0; i < 2000; i++)
        fprintf(memory, "line %d\n", i);
    fclose(memory);
    free(buffer);
    return 0;
}

void deep_take(void *block)
{
    free(block);
}

void *deep_make(size_t bytes)
{
    return malloc(bytes);
}
