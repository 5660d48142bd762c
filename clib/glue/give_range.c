/* Where the system counts all address space of the process, also what is only reserved, the heap gives that back
 * before; from then on it grows piece by piece. mlockall counts it against RLIMIT_MEMLOCK, and with MCL_FUTURE each
 * piece is locked as the program asked. A program that limits its own address space means the memory that it uses: a
 * reservation made before would serve blocks beyond the limit, and leave nothing of it to the program's mappings. */
#include "wait.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

EXPORT int mlockall(int flags)
{
    if (granary_options.started)
        core_give_tail();
    return NEXT(mlockall, NULL)(flags);
}

static void before_limit(int resource, const struct rlimit *limit)
{
    if (resource == RLIMIT_AS && limit != NULL && limit->rlim_cur != RLIM_INFINITY && granary_options.started)
        core_give_tail();
}

EXPORT int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
    before_limit((int)resource, limit);
    return NEXT(setrlimit, NULL)(resource, limit);
}

EXPORT int prlimit(pid_t pid, __rlimit_resource_t resource, const struct rlimit *limit, struct rlimit *old)
{
    if (pid == 0 || pid == getpid())
        before_limit((int)resource, limit);
    return NEXT(prlimit, NULL)(pid, resource, limit, old);
}

#if __SIZEOF_LONG__ == 8 /* rlimit64 is the same structure */
EXPORT int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit)
{
    return setrlimit(resource, (const struct rlimit *)limit);
}

EXPORT int prlimit64(pid_t pid, __rlimit_resource_t resource, const struct rlimit64 *limit, struct rlimit64 *old)
{
    return prlimit(pid, resource, (const struct rlimit *)limit, (struct rlimit *)old);
}
#endif
