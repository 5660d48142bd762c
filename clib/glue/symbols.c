/* Names of functions from the symbol tables of ELF files. The loader only knows the symbols that
 * an object exports; the file mostly has those of static functions too.
 *
 * Files are mapped and stay so: this runs when a message is printed. Nothing in a file is trusted:
 * every table must lie inside of it. */
#include "core.h"
#include "files.h"
#include "stack.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MOST = 64 };

struct symbols {
    const char *path; /* the loader's string: it stays as long as the object */
    uintptr_t bias;
    const ElfW(Sym) *table;
    size_t count;
    const char *names;
    size_t names_bytes;
};

static struct {
    size_t count;
    struct symbols list[FILES_MOST];
} files;

static const unsigned char *map_file(const char *path, size_t *bytes)
{
    struct stat status;
    int saved = errno;
    void *start = MAP_FAILED;
    int fd = file_open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd >= 0) {
        if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)
            && (size_t)status.st_size >= sizeof(ElfW(Ehdr))) {
            *bytes = (size_t)status.st_size;
            start = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, fd, 0);
        }
        file_close(fd);
    }
    errno = saved;
    return start == MAP_FAILED ? NULL : start;
}

static bool inside(size_t file_bytes, uint64_t offset, uint64_t bytes)
{
    return offset <= file_bytes && bytes <= file_bytes - offset;
}

/* Takes the symbol table of that section type, if the file has a sound one. */
static bool take_table(struct symbols *to, const unsigned char *file, size_t bytes,
                       const ElfW(Shdr) *sections, size_t count, uint32_t type)
{
    for (size_t i = 0; i < count; i++) {
        const ElfW(Shdr) *section = &sections[i];
        if (section->sh_type != type || section->sh_link >= count
            || section->sh_offset % sizeof(uint64_t) != 0
            || !inside(bytes, section->sh_offset, section->sh_size))
            continue;
        const ElfW(Shdr) *names = &sections[section->sh_link];
        if (!inside(bytes, names->sh_offset, names->sh_size) || names->sh_size == 0
            || file[names->sh_offset + names->sh_size - 1] != '\0')
            continue;
        to->table = (const void *)(file + section->sh_offset);
        to->count = section->sh_size / sizeof(ElfW(Sym));
        to->names = (const char *)file + names->sh_offset;
        to->names_bytes = names->sh_size;
        return true;
    }
    return false;
}

static void read_file(struct symbols *to)
{
    size_t bytes = 0;
    const unsigned char *file = map_file(to->path, &bytes);
    if (file == NULL)
        return;
    const ElfW(Ehdr) *head = (const void *)file;
    if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0
        || head->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)
        || head->e_shentsize != sizeof(ElfW(Shdr)) || head->e_shoff % sizeof(uint64_t) != 0
        || !inside(bytes, head->e_shoff, (uint64_t)head->e_shnum * sizeof(ElfW(Shdr)))) {
        munmap((void *)file, bytes);
        return;
    }
    const ElfW(Shdr) *sections = (const void *)(file + head->e_shoff);
    if (!take_table(to, file, bytes, sections, head->e_shnum, SHT_SYMTAB)
        && !take_table(to, file, bytes, sections, head->e_shnum, SHT_DYNSYM))
        munmap((void *)file, bytes);
}

static const struct symbols *symbols_of(const char *path, uintptr_t bias)
{
    for (size_t i = 0; i < files.count; i++)
        if (files.list[i].bias == bias && strcmp(files.list[i].path, path) == 0)
            return &files.list[i];
    if (files.count == FILES_MOST || path[0] != '/')
        return NULL;
    struct symbols *to = &files.list[files.count++];
    to->path = path;
    to->bias = bias;
    read_file(to);
    return to;
}

const char *granary_symbol(const char *path, uintptr_t bias, uintptr_t address, uintptr_t *start)
{
    const struct symbols *symbols = symbols_of(path, bias);
    if (symbols == NULL)
        return NULL;
    uintptr_t value = address - bias;
    for (size_t i = 0; i < symbols->count; i++) {
        const ElfW(Sym) *symbol = &symbols->table[i];
        unsigned type = symbol->st_info & 15;
        if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF
            || value - symbol->st_value >= symbol->st_size
            || symbol->st_name >= symbols->names_bytes)
            continue;
        *start = bias + symbol->st_value;
        return symbols->names + symbol->st_name;
    }
    return NULL;
}
