/* The places that make allocations of linear allocators, when those diagnose: a number for each stack, and what is told
 * of it. Everything is under the lock of linear.c, but that a site never changes once it is made. */
#include "core.h"
#include "guard_print.h"
#include "linear.h"
#include "stack.h"

#include <errno.h>
#include <string.h>

enum { SITES_MOST = 1 << 15, INDEX_MOST = 2 * SITES_MOST };

struct site {
    uint32_t count; /* of frames */
    uint32_t alive; /* scratch of a listing */
    bool told;
    uintptr_t frames[FRAMES_MOST];
};

static struct sites {
    struct site site[SITES_MOST];
    uint32_t index[INDEX_MOST]; /* number of the site, by a hash of its frames */
    uint32_t count;             /* the first one is unused */
} *sites;

uintptr_t granary_sys_reserve(size_t bytes);
bool granary_sys_commit(uintptr_t address, size_t bytes);

/* Under the lock. */
void granary_linear_sites_start(void)
{
    if (sites != NULL)
        return;
    if (!granary_options.guard)
        granary_stack_start();
    uintptr_t memory = granary_sys_reserve(sizeof *sites);
    if (memory != 0 && granary_sys_commit(memory, sizeof *sites)) {
        sites = (struct sites *)memory;
        sites->count = 1;
    }
}

static uint32_t find(const uintptr_t *frames, size_t count)
{
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ frames[i]) * 0x9e3779b97f4a7c15;
    for (uint32_t at = (uint32_t)(hash >> 40);; at++) {
        uint32_t *number = &sites->index[at % INDEX_MOST];
        struct site *site = &sites->site[*number];
        if (*number == 0) {
            if (sites->count == SITES_MOST)
                return 0;
            site = &sites->site[sites->count];
            memcpy(site->frames, frames, count * sizeof *frames);
            site->count = (uint32_t)count;
            return *number = sites->count++;
        }
        if (site->count == count && memcmp(site->frames, frames, count * sizeof *frames) == 0)
            return *number;
    }
}

uint32_t granary_linear_site(void)
{
    uintptr_t frames[FRAMES_MOST];
    if (sites == NULL)
        return 0;
    int saved = errno;
    size_t count = granary_stack_capture(frames, CAPTURE_MALLOC);
    granary_linear_lock();
    uint32_t number = count == 0 ? 0 : find(frames, count);
    granary_linear_unlock();
    errno = saved;
    return number;
}

static void print_site(const struct site *site)
{
    static struct code_place place; /* static: threads may have small stacks; printing is in turns */
    if (site->count == 0)
        granary_print("    (stack unknown)\n");
    for (uint32_t i = 0; i < site->count; i++) {
        granary_stack_describe(site->frames[i], &place);
        granary_print("    #%u %p %s+0x%zx (%s+0x%zx)\n", i, (void *)site->frames[i],
                      place.function[0] != '\0' ? place.function : "??", (size_t)place.offset,
                      place.object != NULL ? place.object : "unknown object", (size_t)place.object_offset);
    }
}

/* Prints the sites of what is alive, or of what is too old and was not told of. */
static void print_sites(struct linear *l, uint32_t frame, bool old)
{
    granary_linear_lock();
    uint32_t count = sites == NULL ? 0 : sites->count;
    for (uint32_t i = 0; i < count; i++)
        sites->site[i].alive = 0;
    struct linear_cursor cursor = {0};
    while (core_linear_next(l->core, &cursor, old))
        if (cursor.site < count)
            sites->site[cursor.site].alive++;
    granary_print_begin();
    for (uint32_t i = 0; i < count; i++) {
        struct site *site = &sites->site[i];
        if (site->alive == 0 || (old && site->told))
            continue;
        if (old) {
            site->told = true;
            granary_print("granary: linear %s: %u allocations are older than %u frames (frame %u), made at\n", l->name,
                          site->alive, l->max_age, frame);
        } else {
            granary_print("granary: linear %s: %u alive made at\n", l->name, site->alive);
        }
        print_site(site);
    }
    granary_print_end();
    granary_linear_unlock();
}

void granary_linear_tell(struct linear *l, uint32_t frame, uint64_t count)
{
    if (l->diagnose) {
        print_sites(l, frame, true);
    } else if (!l->told) {
        l->told = true;
        granary_message("granary: linear %s: %lu allocations are older than %u frames (frame %u); run with "
                        "GRANARY_DEBUG_ALLOC=1 to see where they were made\n",
                        l->name, (unsigned long)count, l->max_age, frame);
    }
}

void granary_linear_print_alive(struct linear *l)
{
    if (l->diagnose)
        print_sites(l, 0, false);
}
