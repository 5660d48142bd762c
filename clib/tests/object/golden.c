// The cases of the languages whose objects these are, each with what the language does; and a loop
// over a parameter, and a delete of all behind a tombstone, which the original gets wrong.
// only: granary
// link: {granary}
// also: GRANARY_ALLOC_SYSTEM=1
// also: GRANARY_DEBUG_ALLOC=1
#include "test.h"
#include "granary.h"

struct thing {
    long number;
    granary_var other, third;
    char *name;
};

static const granary_object_field fields[] = {
    {.offset = offsetof(struct thing, other), .kind = GRANARY_OBJECT_VAR, .count = 2},
    {.offset = offsetof(struct thing, name), .kind = GRANARY_OBJECT_BLOCK},
};

static granary_object_type *type;
static granary_ref made[16];

static struct thing *at(granary_ref ref) { return granary_object_must(ref); }

static granary_ref make(long number)
{
    granary_ref ref = granary_object_new(type);
    CHECKED(ref != 0 && at(ref)->number == 0 && at(ref)->other.ref == 0 && at(ref)->name == NULL);
    at(ref)->number = number;
    return ref;
}

/* An empty list, then objects 1 to count. */
static void begin(int count)
{
    granary_object_delete_each(type);
    for (int i = 1; i <= count; i++)
        made[i] = make(i);
}

static char text[200];

static void add(long number) { sprintf(text + strlen(text), "%ld ", number); }

static void expect_text(const char *want) { CHECK(strcmp(text, want) == 0, "got %s, expected %s", text, want); }

static void expect_list(const char *want)
{
    text[0] = 0;
    for (granary_ref r = granary_object_first(type); r != 0; r = granary_object_after(r))
        add(at(r)->number);
    expect_text(want);
    size_t length = strlen(want);
    for (granary_ref r = granary_object_last(type); r != 0; r = granary_object_before(r))
        length -= (size_t)snprintf(NULL, 0, "%ld ", at(r)->number);
    CHECK(length == 0, "going backward the list is another one");
}

static size_t unreleased(void)
{
    granary_object_stats stats;
    CHECKED(granary_object_get_stats(type, &stats, sizeof stats) == 0);
    return stats.unreleased;
}

static void lists(void)
{
    begin(5);
    expect_list("1 2 3 4 5 ");
    CHECKED(granary_object_insert_before(granary_object_last(type), granary_object_first(type)) == 0);
    expect_list("5 1 2 3 4 ");
    begin(3);
    CHECKED(granary_object_insert_after(made[1], made[2]) == 0);
    expect_list("2 1 3 ");
    CHECKED(granary_object_insert_after(made[1], made[1]) == 0);
    CHECKED(granary_object_insert_before(made[1], made[1]) == 0);
    expect_list("2 1 3 ");
    errno = 0;
    CHECKED(granary_object_insert_after(made[1], 0) == -1 && errno == EINVAL);
    CHECKED(granary_object_insert_after(12345, made[1]) == -1);
    begin(0);
    CHECKED(granary_object_first(type) == 0 && granary_object_last(type) == 0);
    CHECKED(granary_object_after(0) == 0 && granary_object_before(99) == 0);
}

static void each_with_parameter(granary_ref r)
{
    for (r = granary_object_start(type); r != 0;) {
        granary_ref deleted = r;
        add(at(r)->number);
        granary_object_delete(&deleted);
        r = granary_object_next(type, r);
    }
}

static void loops(void)
{
    begin(5);
    text[0] = 0;
    each_with_parameter(made[1]);
    expect_text("1 2 3 4 5 ");
    expect_list("");
    CHECKED(unreleased() == 0);

    begin(5);
    text[0] = 0;
    for (granary_ref r = granary_object_start(type); r != 0; r = granary_object_next(type, r)) {
        add(at(r)->number);
        if (at(r)->number == 2) {
            granary_ref next = granary_object_after(r);
            granary_object_delete(&next);
        }
    }
    expect_text("1 2 4 5 ");

    begin(3);
    text[0] = 0;
    long more = 11;
    for (granary_ref r = granary_object_start(type); r != 0; r = granary_object_next(type, r)) {
        add(at(r)->number);
        if (more < 13)
            make(more++);
    }
    expect_text("1 2 3 11 12 ");

    begin(3);
    for (granary_ref r = granary_object_start(type); r != 0; r = granary_object_next(type, r)) {
        granary_ref deleted = r;
        granary_object_delete(&deleted);
        granary_object_stop(type, r);
        break;
    }
    CHECKED(unreleased() == 0);
    expect_list("2 3 ");
}

static void null(void)
{
    begin(3);
    granary_ref a = made[1], b = made[2];
    CHECKED(!granary_object_equal(a, b) && granary_object_equal(a, made[1]) && !granary_object_equal(a, 0));
    granary_object_delete(&a);
    CHECKED(a == 0 && granary_object_is_null(made[1]) && granary_object_equal(made[1], 0));
    granary_object_delete(&b);
    CHECKED(granary_object_equal(made[1], made[2]) && !granary_object_equal(made[1], made[3]));
    a = made[1];
    granary_object_delete(&a);
    granary_object_delete(&a);
    CHECKED(granary_object_get(made[1]) == NULL && granary_object_get(0) == NULL);
    CHECKED(granary_object_type_of(made[1]) == NULL && granary_object_type_of(made[3]) == type);

    begin(3);
    granary_var v = {0};
    granary_object_set(&v, made[1]);
    a = made[1];
    granary_object_delete(&a);
    CHECKED(granary_object_after(v.ref) == made[2] && unreleased() == 1);
    granary_object_clear(&v);
    CHECKED(granary_object_after(made[1]) == 0 && unreleased() == 0);

    granary_object_set(&v, made[2]);
    granary_object_set(&v, made[2]);
    granary_object_set(&v, v.ref);
    granary_object_delete_var(&v);
    CHECKED(v.ref == 0 && unreleased() == 0 && granary_object_is_null(made[2]));
    granary_object_set(&v, made[2]); /* long gone */
    CHECKED(v.ref == 0);
}

static void handles(void)
{
    granary_object_type *other = granary_object_type_new("other", 8, NULL, 0, 0);
    begin(2);
    int64_t h = granary_object_handle(made[1]);
    CHECKED(h > 0 && granary_object_handle(made[1]) == h);
    CHECKED(granary_object_from_handle(type, h) == made[1] && granary_object_from_handle(other, h) == 0);
    CHECKED(granary_object_handle(0) == 0 && granary_object_from_handle(type, 0) == 0);
    CHECKED(granary_object_from_handle(type, -5) == 0 && granary_object_from_handle(type, h + 1) == 0);
    granary_ref a = made[1];
    granary_object_delete(&a);
    CHECKED(granary_object_from_handle(type, h) == 0 && granary_object_handle(made[1]) == 0);
    CHECKED(granary_object_handle(make(9)) == h + 1);
}

static void fields_let_go(void)
{
    begin(3);
    granary_object_set(&at(made[1])->other, made[2]);
    granary_ref two = made[2];
    granary_object_delete(&two);
    CHECKED(granary_object_delete_each(type) == 2);
    CHECKED(granary_object_first(type) == 0 && unreleased() == 0);

    begin(2); /* a cycle, and one of itself */
    granary_object_set(&at(made[1])->other, made[2]);
    granary_object_set(&at(made[2])->other, made[1]);
    granary_object_set(&at(made[2])->third, made[2]);
    at(made[1])->name = granary_malloc(100);
    strcpy(at(made[1])->name, "freed with its object");
    granary_ref one = made[1];
    granary_object_delete(&one);
    CHECKED(unreleased() == 1 && granary_object_is_null(at(made[2])->other.ref));
    granary_object_delete_each(type);
    CHECKED(unreleased() == 0);
}

static void reuse(void)
{
    granary_object_type *fresh = granary_object_type_new("fresh", 24, NULL, 0, 0);
    granary_ref first = granary_object_new(fresh), old = first;
    void *block = granary_object_get(first);
    int debug = getenv("GRANARY_DEBUG_ALLOC") != NULL;
    granary_object_delete(&first);
    for (int i = 1; i < 512; i++)
        CHECKED(granary_object_get(granary_object_new(fresh)) != block);
    granary_ref again = granary_object_new(fresh);
    CHECKED((granary_object_get(again) == block) == !debug && again != old);
    granary_object_delete_each(fresh);
    granary_object_stats stats;
    CHECKED(granary_object_get_stats(fresh, &stats, sizeof stats) == 0 && stats.alive == 0);
    CHECKED(stats.made == 513 && stats.slots >= 512);
    size_t given = granary_object_trim(fresh);
    CHECKED(debug || given == stats.bytes);
    CHECKED(granary_object_get(again) == NULL && granary_object_new(fresh) != 0);
    granary_object_delete_each(fresh);
}

int main(void)
{
    CHECKED(granary_object_get(7) == NULL && granary_object_is_null(7) && granary_object_report() == 0);
    type = granary_object_type_new("thing", sizeof(struct thing), fields, 2, 0);
    CHECKED(type != NULL && strcmp(granary_object_type_name(type), "thing") == 0);
    for (int round = 0; round < 2; round++) {
        lists();
        loops();
        null();
        handles();
        fields_let_go();
        reuse();
        granary_object_delete_each(type);
        type = granary_object_type_new("owned", sizeof(struct thing), fields, 2, GRANARY_OBJECT_SINGLE_OWNER);
    }
    CHECKED(granary_object_report() == 0);
    return 0;
}
