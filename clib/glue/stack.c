/* What is on stacks: functions, named by the loader's list of objects and the symbol tables of
 * their files, and whose code it is. capture.c captures them. docs/design/guard.md has the
 * reasons. */
#include "core.h"
#include "stack.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    uintptr_t start, end; /* the library's code and data; 0 if it is part of the program */
    bool in_program;
    char program[PATH_MAX];
} own;

/* ---- start ---- */

static int find_own(struct dl_phdr_info *info, size_t bytes, void *unused)
{
    (void)bytes;
    (void)unused;
    uintptr_t here = (uintptr_t)&find_own, start = UINTPTR_MAX, end = 0;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD)
            continue;
        uintptr_t first = info->dlpi_addr + segment->p_vaddr;
        if (first < start)
            start = first;
        if (first + segment->p_memsz > end)
            end = first + segment->p_memsz;
    }
    if (here < start || here >= end)
        return 0;
    own.in_program = info->dlpi_name == NULL || info->dlpi_name[0] == '\0';
    if (!own.in_program) {
        own.start = start;
        own.end = end;
    }
    return 1;
}

void granary_stack_start(void)
{
    dl_iterate_phdr(find_own, NULL);
    ssize_t length = readlink("/proc/self/exe", own.program, sizeof own.program - 1);
    own.program[length > 0 ? length : 0] = '\0';
    granary_capture_start(!own.in_program);
}

size_t granary_stack_skip_own(const uintptr_t *pc, size_t count)
{
    size_t first = 0;
    while (first < count && pc[first] - own.start < own.end - own.start)
        first++;
    return first;
}

/* ---- names ---- */

typedef char *(*demangler)(const char *, char *, size_t *, int *);
extern char *cxa_demangle(const char *, char *, size_t *, int *)
    __asm__("__cxa_demangle") __attribute__((weak));

static void put_name(char *to, const char *name)
{
    static demangler demangle;
    if (name[0] == '_' && name[1] == 'Z') {
        if (demangle == NULL)
            demangle = cxa_demangle != NULL
                           ? cxa_demangle
                           : (demangler)dlsym(RTLD_DEFAULT, "__cxa_demangle");
        int status = 1;
        char *plain = demangle != NULL ? demangle(name, NULL, NULL, &status) : NULL;
        if (plain != NULL && status == 0) {
            size_t length = strnlen(plain, NAME_BYTES - 1);
            memcpy(to, plain, length);
            to[length] = '\0';
        }
        if (plain != NULL)
            free(plain);
        if (status == 0)
            return;
    }
    size_t length = strnlen(name, NAME_BYTES - 1);
    memcpy(to, name, length);
    to[length] = '\0';
}

/* Functions through which a program enters Granary; for programs that contain it. */
static bool is_entry(const char *name)
{
    static const char *const names[] = {"malloc", "free", "calloc", "realloc", "reallocarray",
                                        "memalign", "aligned_alloc", "posix_memalign", "valloc",
                                        "pvalloc", "malloc_usable_size", "cfree", "free_sized",
                                        "free_aligned_sized"};
    if (strncmp(name, "granary", 7) == 0 || strncmp(name, "_Zn", 3) == 0
        || strncmp(name, "_Zd", 3) == 0)
        return true;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* The function's name as it is in the object, or NULL. */
static const char *find_function(uintptr_t pc, struct link_map **map, uintptr_t *start)
{
    Dl_info info;
    /* A call may be the last thing in a function: then the return address is in the next. */
    uintptr_t inside = pc - 1;
    *map = NULL;
    if (dladdr1((void *)inside, &info, (void **)map, RTLD_DL_LINKMAP) == 0 || *map == NULL)
        return NULL;
    bool program = (*map)->l_name == NULL || (*map)->l_name[0] == '\0';
    const char *path = program ? own.program : (*map)->l_name;
    const char *name = granary_symbol(path, (*map)->l_addr, inside, start);
    if (name == NULL) {
        name = info.dli_sname;
        *start = (uintptr_t)info.dli_saddr;
    }
    return name;
}

uintptr_t granary_stack_function(uintptr_t pc)
{
    struct link_map *map;
    uintptr_t start = 0;
    return find_function(pc, &map, &start) == NULL ? pc : start;
}

void granary_stack_describe(uintptr_t pc, struct code_place *place)
{
    struct link_map *map;
    uintptr_t start = 0;
    const char *name = find_function(pc, &map, &start);
    place->function[0] = '\0';
    place->object = NULL;
    place->own = false;
    if (map == NULL)
        return;
    bool program = map->l_name == NULL || map->l_name[0] == '\0';
    place->object = program ? own.program : map->l_name;
    place->object_offset = pc - map->l_addr;
    if (name == NULL)
        return;
    put_name(place->function, name);
    place->offset = pc - start;
    place->own = own.in_program && program && is_entry(name);
}

/* ---- the system's libraries ---- */

static bool is_system(const char *path, bool *loader)
{
    static const char *const names[] = {"libc.so.", "libstdc++.so.", "libgcc_s.so.", "libm.so.",
                                        "libpthread.so.", "libdl.so.", "librt.so.",
                                        "libresolv.so.", "libnss_", "libutil.so.", "libanl.so.",
                                        "libc++.so.", "libc++abi.so."};
    const char *base = strrchr(path, '/');
    base = base == NULL ? path : base + 1;
    *loader = strncmp(base, "ld-linux", 8) == 0;
    if (*loader)
        return true;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(base, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static void add_range(struct modules *modules, uintptr_t start, uintptr_t end)
{
    if (start < end && modules->range_count < RANGES_MOST) {
        modules->ranges[modules->range_count][0] = start;
        modules->ranges[modules->range_count][1] = end;
        modules->range_count++;
    }
}

static int add_module(struct dl_phdr_info *info, size_t bytes, void *context)
{
    (void)bytes;
    struct modules *modules = context;
    bool loader = false;
    const char *name = info->dlpi_name == NULL ? "" : info->dlpi_name;
    bool mine = own.end != 0 && info->dlpi_addr <= own.start && own.start - info->dlpi_addr < 4096;
    if (modules->count == MODULES_MOST || !(is_system(name, &loader) || mine))
        return 0;
    uintptr_t start = UINTPTR_MAX, end = 0;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t first = info->dlpi_addr + segment->p_vaddr, last = first + segment->p_memsz;
        if (segment->p_type == PT_TLS && info->dlpi_tls_data != NULL && !mine)
            add_range(modules, (uintptr_t)info->dlpi_tls_data,
                      (uintptr_t)info->dlpi_tls_data + segment->p_memsz);
        if (segment->p_type != PT_LOAD)
            continue;
        start = first < start ? first : start;
        end = last > end ? last : end;
        if ((segment->p_flags & PF_W) != 0 && !mine)
            add_range(modules, first, last);
    }
    modules->list[modules->count].start = start;
    modules->list[modules->count].end = end;
    modules->list[modules->count].loader = loader;
    modules->count++;
    return 0;
}

/* The libc's list of open streams is no reference: a stream that was never closed is a leak. */
static void leave_out_streams(struct modules *modules)
{
    uintptr_t word = (uintptr_t)dlsym(RTLD_DEFAULT, "_IO_list_all");
    for (size_t i = 0; word != 0 && i < modules->range_count; i++) {
        uintptr_t end = modules->ranges[i][1];
        if (word < modules->ranges[i][0] || word >= end)
            continue;
        modules->ranges[i][1] = word;
        add_range(modules, word + sizeof(void *), end);
        return;
    }
}

void granary_stack_modules(struct modules *modules)
{
    modules->count = modules->range_count = 0;
    dl_iterate_phdr(add_module, modules);
    leave_out_streams(modules);
}

int granary_stack_in_system(const struct modules *modules, uintptr_t address)
{
    for (size_t i = 0; i < modules->count; i++)
        if (address - modules->list[i].start < modules->list[i].end - modules->list[i].start)
            return modules->list[i].loader ? 2 : 1;
    return 0;
}
