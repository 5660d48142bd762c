/* The guard (debug mode): entry points, until it is switched on by the environment. */
#include "core.h"

void *granary_guard_malloc(size_t size, size_t alignment) { (void)size; (void)alignment; return NULL; }
void granary_guard_free(void *block) { (void)block; }
void *granary_guard_realloc(void *block, size_t size) { (void)block; (void)size; return NULL; }
size_t granary_guard_usable_size(const void *block) { (void)block; return 0; }
void granary_guard_check_size(void *block, size_t size) { (void)block; (void)size; }
void granary_guard_start(void) {}
void granary_guard_at_exit(void) {}
