/* dlopen without RTLD_DEEPBIND. A plugin opened with that flag binds malloc and free to the libc, while the libc
 * itself calls ours: what asprintf or getline allocate for the plugin cannot be freed there. The flag is taken out, and
 * said so once. The libc's dlopen looks at its caller for $ORIGIN and RUNPATH, so it is entered by a jump. */
#include "core.h"

#include <dlfcn.h>
#include <stdatomic.h>

static int without_deepbind(const char *file, int flags)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if ((flags & RTLD_DEEPBIND) != 0 && !atomic_flag_test_and_set(&said) && granary_options.verbose)
        granary_message("granary: dlopen(%s): RTLD_DEEPBIND left out, so that the plugin has the program's malloc\n",
                        file != NULL ? file : "NULL");
    return flags & ~RTLD_DEEPBIND;
}

static void *(*real_dlopen)(const char *, int);
static void *(*real_dlmopen)(Lmid_t, const char *, int);

EXPORT __attribute__((optimize("O2", "optimize-sibling-calls"))) void *dlopen(const char *file, int flags)
{
    if (real_dlopen == NULL)
        real_dlopen = (void *(*)(const char *, int))granary_next_symbol("dlopen", NULL);
    return real_dlopen(file, without_deepbind(file, flags));
}

EXPORT __attribute__((optimize("O2", "optimize-sibling-calls"))) void *dlmopen(Lmid_t namespace, const char *file,
                                                                               int flags)
{
    if (real_dlmopen == NULL)
        real_dlmopen = (void *(*)(Lmid_t, const char *, int))granary_next_symbol("dlmopen", NULL);
    return real_dlmopen(namespace, file, namespace == LM_ID_BASE ? without_deepbind(file, flags) : flags);
}
