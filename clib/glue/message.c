/* Messages to the user, and the ones about misuse that the heap finds by itself. */
#include "core.h"
#include "files.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void print(const char *format, va_list arguments)
{
    char text[1000];
    int saved = errno;
    int length = vsnprintf(text, sizeof text, format, arguments);
    if (length > (int)sizeof text - 1)
        length = (int)sizeof text - 1;
    for (int done = 0; done < length;) {
        ssize_t n = file_write(STDERR_FILENO, text + done, (size_t)(length - done));
        if (n < 0 && errno != EINTR)
            break;
        if (n > 0)
            done += (int)n;
    }
    errno = saved;
}

void granary_message(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
}

_Noreturn void granary_fatal(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
    abort();
}

/* What the heap found without the guard: heap.MisuseInside and so on. */
enum { NOT_START = 1, TWICE = 2, FOREIGN = 3 };

#define HINT "run with GRANARY_DEBUG_ALLOC=1 to see where\n"

void granary_glue_misuse(void *block, void *start, size_t bytes, long what)
{
    switch (what) {
    case NOT_START:
        granary_fatal("granary: free(%p): pointer is inside a block, %zu bytes after its start %p (class %zu); " HINT,
                      block, (size_t)((char *)block - (char *)start), start, bytes);
    case TWICE:
        granary_fatal("granary: free(%p): block was already freed (class %zu); " HINT, block, bytes);
    default:
        granary_fatal("granary: free(%p): pointer lies in Granary's range but is not a block; " HINT, block);
    }
}

void *granary_next_symbol(const char *name, const char *version)
{
    void *symbol = version != NULL ? dlvsym(RTLD_NEXT, name, version) : NULL;
    if (symbol == NULL)
        symbol = dlsym(RTLD_NEXT, name);
    if (symbol == NULL)
        granary_fatal("granary: the libc has no function %s; Granary needs glibc 2.34 or newer\n", name);
    return symbol;
}
