// Blocks of a second libc (dlmopen) are not Granary's: free, realloc and malloc_usable_size pass
// them to the system allocator. Addresses that are no block at all (stack, mapping, data) never
// crash Granary itself: the call is ignored or the program is stopped with a message.
// covers: 8
// plugin: foreign.c
// args: {foreign.so}
#include "test.h"
#include <malloc.h>
#include <signal.h>

static void call_free(void *address) { free(opaque_pointer(address)); }
static void call_realloc(void *address) { opaque_pointer(realloc(opaque_pointer(address), 100)); }

static void expect_no_crash(const char *what, void (*call)(void *), void *address)
{
    pid_t pid = fork();
    if (pid == 0) {
        hang_limit_seconds(10);
        call(address);
        _exit(0);
    }
    int status = wait_child(pid);
    int stopped = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
    int went_on = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    CHECK(stopped || went_on, "%s: wait status 0x%x", what, status);
}

int main(int argc, char **argv)
{
    CHECKED(argc == 2);
    void *plugin = dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW | RTLD_LOCAL);
    CHECK(plugin != NULL, "dlmopen: %s", dlerror());
    void *(*make)(size_t) = (void *(*)(size_t))dlsym(plugin, "foreign_make");
    CHECKED(make != NULL);
    // Whether two libcs understand each other's blocks is theirs to know: small ones go through
    // their caches. What counts here is that Granary passes them on.
    for (size_t size = 24; size < 1000; size += 100) {
        char *block = make(size);
        CHECKED(malloc_usable_size(block) >= size);
        fill_block(block, size, 1);
        free(block);
    }

    static char data[4096] __attribute__((aligned(64)));
    char stack[4096] __attribute__((aligned(64)));
    memset(stack, 0, sizeof stack);
    char *mapping = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECKED(mapping != MAP_FAILED);
    static const struct { const char *name; void (*call)(void *); } calls[] = {
        {"free", call_free}, {"realloc", call_realloc},
    };
    for (size_t i = 0; i < 2; i++) {
        void (*call)(void *) = calls[i].call;
        expect_no_crash("static data", call, data + 64);
        expect_no_crash("the stack", call, stack + 64);
        expect_no_crash("a mapping", call, mapping + 4096);
        expect_no_crash("an odd address in a mapping", call, mapping + 4099);
    }
    return 0;
}
