/* Variables of a library that is opened late. */
#include <stddef.h>

static void *data = (void *)1;
static __thread char first_page[5000];
static __thread void *tls;

void **holder_data(void) { return &data; }

void **holder_tls(void)
{
    first_page[0] = 1;
    return &tls;
}
