/* mlockall counts all address space of the process against RLIMIT_MEMLOCK, also what is only
 * reserved. So the heap gives that back before; from then on it grows piece by piece, and with
 * MCL_FUTURE each piece is locked as the program asked. */
#include "wait.h"

#include <sys/mman.h>

EXPORT int mlockall(int flags)
{
    if (granary_options.started)
        core_give_tail();
    return NEXT(mlockall, NULL)(flags);
}
