/* Watches for which code addresses libgcc's unwinder wants the tables. It asks the loader with _dl_find_object (glibc
 * 2.35), through its own table of addresses, and there the function below is put in. Debug mode only. */
#include "core.h"
#include "stack.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ASKED "_dl_find_object"

typedef int (*find_function)(void *, void *);

static find_function find;
static void (*watcher)(uintptr_t, bool);

static int find_object(void *pc, void *result)
{
    int missing = find(pc, result);
    watcher((uintptr_t)__builtin_frame_address(0), missing != 0);
    return missing;
}

/* Where an object keeps the addresses of the functions that it calls. */
struct imports {
    const ElfW(Sym) *symbols;
    const char *names;
    const ElfW(Rela) *tables[2];
    size_t bytes[2];
};

static void read_imports(const struct link_map *map, struct imports *imports)
{
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        switch (entry->d_tag) {
        case DT_SYMTAB:
            imports->symbols = (const void *)entry->d_un.d_ptr;
            break;
        case DT_STRTAB:
            imports->names = (const void *)entry->d_un.d_ptr;
            break;
        case DT_RELA:
            imports->tables[0] = (const void *)entry->d_un.d_ptr;
            break;
        case DT_RELASZ:
            imports->bytes[0] = entry->d_un.d_val;
            break;
        case DT_JMPREL:
            imports->tables[1] = (const void *)entry->d_un.d_ptr;
            break;
        case DT_PLTRELSZ:
            imports->bytes[1] = entry->d_un.d_val;
            break;
        }
    }
}

/* Replaces the address. It may lie where the loader took away the right to write. */
static bool put(uintptr_t place, find_function function)
{
    uintptr_t page = place & -(uintptr_t)getpagesize();
    if (mprotect((void *)page, place + sizeof function - page, PROT_READ | PROT_WRITE) != 0)
        return false;
    __atomic_store_n((find_function *)place, function, __ATOMIC_RELEASE);
    return true;
}

bool granary_unwind_watch(void *unwinder, void (*asked)(uintptr_t frame, bool missing))
{
    Dl_info info;
    struct link_map *map = NULL;
    struct imports imports = {0};
    find = (find_function)dlsym(RTLD_DEFAULT, ASKED);
    watcher = asked;
    if (find == NULL || dladdr1(unwinder, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || map == NULL)
        return false;
    read_imports(map, &imports);
    bool found = false;
    for (int t = 0; t < 2; t++) {
        for (size_t i = 0; i < imports.bytes[t] / sizeof **imports.tables; i++) {
            const ElfW(Rela) *entry = &imports.tables[t][i];
            const ElfW(Sym) *symbol = &imports.symbols[ELF64_R_SYM(entry->r_info)];
            if (strcmp(imports.names + symbol->st_name, ASKED) == 0)
                found |= put(map->l_addr + entry->r_offset, find_object);
        }
    }
    return found;
}
