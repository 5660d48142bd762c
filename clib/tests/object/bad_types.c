// Types that cannot be are refused with EINVAL; arrays of elements that hold something let go of
// all of it; a short structure of figures gets what fits.
// only: granary
// link: {granary}
// also: GRANARY_ALLOC_SYSTEM=1
// also: GRANARY_DEBUG_ALLOC=1
#include "test.h"
#include "granary.h"

static void refuse(const char *why, size_t bytes, const granary_object_field *fields, size_t count, unsigned flags)
{
    errno = 0;
    granary_object_type *type = granary_object_type_new("bad", bytes, fields, count, flags);
    CHECK(type == NULL && errno == EINVAL, "%s: accepted, or errno %d", why, errno);
}

static void refused(void)
{
    granary_object_field f = {.offset = 8, .kind = GRANARY_OBJECT_VAR};
    granary_object_field two[2] = {f, f};
    granary_object_field self = {.kind = GRANARY_OBJECT_ARRAY, .element_bytes = 16, .element_field_count = 1};
    self.element_fields = &self;
    CHECKED(granary_object_type_new("good", 16, &f, 1, 0) != NULL);
    refuse("outside", 15, &f, 1, 0);
    refuse("overlap", 32, two, 2, 0);
    refuse("no fields", 32, NULL, 1, 0);
    refuse("too large", ((size_t)1 << 30) + 1, NULL, 0, 0);
    refuse("flags", 16, NULL, 0, 0x80);
    refuse("contains itself", 16, &self, 1, 0);
    refuse("too many", 16, &f, SIZE_MAX, 0);
    f.offset = 4;
    refuse("not aligned", 16, &f, 1, 0);
    f.offset = 0;
    f.kind = 9;
    refuse("unknown kind", 16, &f, 1, 0);
    f.kind = GRANARY_OBJECT_BLOCK;
    f.count = 3;
    refuse("too many side by side", 16, &f, 1, 0);
    f.stride = 4;
    refuse("on top of each other", 64, &f, 1, 0);
    errno = 0;
    CHECKED(granary_object_type_new(NULL, 16, NULL, 0, 0) == NULL && errno == EINVAL);
}

struct link {
    granary_var to;
    char *label;
};

struct node {
    struct link *links;
    size_t count;
    char *names[3];
};

static void arrays(void)
{
    static const granary_object_field of_link[] = {
        {.offset = offsetof(struct link, to), .kind = GRANARY_OBJECT_VAR},
        {.offset = offsetof(struct link, label), .kind = GRANARY_OBJECT_BLOCK},
    };
    static const granary_object_field of_node[] = {
        {.offset = offsetof(struct node, links), .kind = GRANARY_OBJECT_ARRAY, .element_bytes = sizeof(struct link),
         .element_fields = of_link, .element_field_count = 2},
        {.offset = offsetof(struct node, names), .kind = GRANARY_OBJECT_BLOCK, .count = 3},
    };
    granary_object_type *type = granary_object_type_new("node", sizeof(struct node), of_node, 2, 0);
    CHECKED(type != NULL);
    granary_ref all[50];
    for (int i = 0; i < 50; i++)
        all[i] = granary_object_new(type);
    for (int i = 0; i < 50; i++) {
        struct node *n = granary_object_must(all[i]);
        n->count = (size_t)i;
        n->links = granary_calloc(n->count, sizeof *n->links);
        for (size_t k = 0; k < n->count; k++) {
            granary_object_set(&n->links[k].to, all[(k * 7) % 50]);
            if (k % 2 == 0)
                n->links[k].label = granary_malloc(k + 1);
        }
        n->names[i % 3] = granary_calloc(1, 20);
    }
    for (int i = 0; i < 49; i++)
        granary_object_delete(&all[i]);
    granary_object_stats stats;
    CHECKED(granary_object_get_stats(type, &stats, sizeof stats) == 0);
    CHECK(stats.alive == 1 && stats.unreleased > 0, "%llu unreleased", (unsigned long long)stats.unreleased);
    granary_object_delete(&all[49]);
    CHECKED(granary_object_get_stats(type, &stats, sizeof stats) == 0);
    CHECK(stats.alive == 0 && stats.unreleased == 0, "%llu unreleased", (unsigned long long)stats.unreleased);

    struct {
        uint64_t alive, unreleased, guard;
    } some = {1, 1, 77};
    CHECKED(granary_object_get_stats(type, (granary_object_stats *)&some, 16) == 0);
    CHECKED(some.alive == 0 && some.unreleased == 0 && some.guard == 77);
    errno = 0;
    CHECKED(granary_object_get_stats(type, NULL, 100) == -1 && errno == EINVAL);
}

int main(void)
{
    refused();
    arrays();
    return 0;
}
