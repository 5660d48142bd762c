/* The smallest auditor: it accepts the interface and allocates something in its own namespace. */
#include <link.h>
#include <stdlib.h>

unsigned int la_version(unsigned int version)
{
    free(malloc(100));
    return version;
}
