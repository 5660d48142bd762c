/* Thread-local variables.
 *
 * Variables of objects that are loaded when a thread begins lie at the same distance from the thread pointer in all
 * threads. Those of others are allocated when a thread first uses them; the loader notes where in the thread's vector
 * (dtv), an array of pairs of words whose length is in front of it, found beside the thread pointer. Its layout is
 * compared with what dl_iterate_phdr says of this thread before it is believed.
 *
 * A thread that is stopped may be just changing its vector, so that is copied with care. */
#include "collector.h"

#include <string.h>

struct vector_entry {
    uintptr_t block;
    uintptr_t to_free; /* 0: at a fixed distance from the thread pointer */
};

struct module {
    size_t number, bytes;
    intptr_t distance; /* from the thread pointer; 0: allocated for each thread */
};

static struct module *modules;
static size_t module_count, module_room;
static bool vector_is_known = true;
static uintptr_t mine; /* where this library's own variables are: no roots */

static uintptr_t vector_of(uintptr_t thread_pointer)
{
#if defined(__x86_64__)
    thread_pointer += sizeof(uintptr_t);
#endif
    uintptr_t vector = 0;
    granary_gc_read_carefully(&vector, thread_pointer, sizeof vector);
    return vector;
}

static bool read_entry(uintptr_t vector, size_t module, struct vector_entry *entry)
{
    uintptr_t length = 0;
    return vector != 0
           && granary_gc_read_carefully(&length, vector - sizeof *entry, sizeof length) == sizeof length
           && module <= length
           && granary_gc_read_carefully(entry, vector + module * sizeof *entry, sizeof *entry) == sizeof *entry
           && entry->block != 0 && entry->block != UINTPTR_MAX;
}

void granary_gc_tls_forget(void)
{
    module_count = 0;
    mine = (uintptr_t)&granary_gc_local;
}

/* block is where the calling thread has the module's variables, NULL if it has none yet. */
void granary_gc_tls_add(size_t number, size_t bytes, const void *block)
{
    if (number == 0 || bytes == 0 || mine - (uintptr_t)block < bytes
        || !granary_gc_room((void **)&modules, &module_room, module_count, sizeof *modules))
        return;
    struct module *module = &modules[module_count++];
    *module = (struct module){.number = number, .bytes = bytes};
    uintptr_t own = (uintptr_t)__builtin_thread_pointer();
    struct vector_entry entry;
    if (block == NULL)
        return;
    if (!read_entry(vector_of(own), number, &entry) || entry.block != (uintptr_t)block)
        vector_is_known = false;
    else if (entry.to_free == 0)
        module->distance = (intptr_t)((uintptr_t)block - own);
}

static void mark_copy(uintptr_t from, size_t bytes)
{
    static uintptr_t copy[8192]; /* one collection at a time */
    for (size_t done = 0; done < bytes;) {
        size_t part = bytes - done < sizeof copy ? bytes - done : sizeof copy;
        size_t n = granary_gc_read_carefully(copy, from + done, part);
        core_gc_mark_range((uintptr_t)copy, (uintptr_t)copy + n / sizeof copy[0] * sizeof copy[0]);
        if (n < part)
            return;
        done += part;
    }
}

void granary_gc_mark_tls(const struct gc_thread *thread)
{
    uintptr_t vector = 0;
    for (size_t i = 0; i < module_count; i++) {
        const struct module *module = &modules[i];
        if (module->distance != 0) {
            uintptr_t block = thread->thread_pointer + (uintptr_t)module->distance;
            core_gc_mark_range((block + 7) & ~(uintptr_t)7, (block + module->bytes) & ~(uintptr_t)7);
            continue;
        }
        struct vector_entry entry;
        if (vector == 0 && vector_is_known)
            vector = vector_of(thread->thread_pointer);
        if (vector_is_known && read_entry(vector, module->number, &entry))
            mark_copy(entry.block, module->bytes);
    }
}
