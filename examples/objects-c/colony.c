/* A colony whose settlers marry, move house and die, with Granary's objects: nobody who dies has to be looked for in
 * the houses and marriages of others, as every reference to a deleted object reads as Null.
 *
 *   cc colony.c -lgranary && ./a.out
 */
#include "granary.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct settler {
    int born;
    granary_var spouse; /* counted: set with granary_object_set */
    granary_ref home;   /* not counted: reads as Null when the house is gone, too */
    char *name;         /* freed with the settler */
};

struct house {
    int built;
    granary_var owner;
};

static const granary_object_field settler_fields[] = {
    {.offset = offsetof(struct settler, spouse), .kind = GRANARY_OBJECT_VAR},
    {.offset = offsetof(struct settler, name), .kind = GRANARY_OBJECT_BLOCK},
};
static const granary_object_field house_fields[] = {
    {.offset = offsetof(struct house, owner), .kind = GRANARY_OBJECT_VAR},
};

static granary_object_type *settlers, *houses;
static unsigned random_state = 2463534242u;

static unsigned random_below(unsigned n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state % n;
}

static void settle(int year, int number)
{
    granary_ref ref = granary_object_new(settlers);
    struct settler *s = granary_object_must(ref);
    s->born = year;
    s->name = granary_malloc(32);
    if (s->name != NULL)
        snprintf(s->name, 32, "settler %d of %d", number, year);
}

static void build(int year, granary_ref owner)
{
    granary_ref ref = granary_object_new(houses);
    struct house *h = granary_object_must(ref);
    h->built = year;
    granary_object_set(&h->owner, owner);
    struct settler *s = granary_object_must(owner);
    s->home = ref;
}

static void live(int year, granary_ref ref)
{
    struct settler *s = granary_object_must(ref);
    if (year - s->born > 40 + (int)random_below(40)) {
        granary_object_delete(&ref); /* widows, houses: all that refers to it is Null now */
        return;
    }
    if (granary_object_is_null(s->spouse.ref)) { /* never married, or widowed: it looks the same */
        granary_ref next = granary_object_after(ref);
        struct settler *other = granary_object_get(next);
        if (other != NULL && granary_object_is_null(other->spouse.ref) && random_below(4) == 0) {
            granary_object_set(&s->spouse, next);
            granary_object_set(&other->spouse, ref);
        }
    }
    if (granary_object_is_null(s->home) && random_below(3) == 0)
        build(year, ref);
}

static void decay(int year)
{
    for (granary_ref r = granary_object_start(houses); r != 0; r = granary_object_next(houses, r)) {
        struct house *h = granary_object_must(r);
        int empty = granary_object_is_null(h->owner.ref);
        if (year - h->built > (empty ? 10 : 60)) {
            granary_ref house = r;
            granary_object_delete(&house);
        }
    }
}

static void print(int year)
{
    granary_object_stats people, buildings;
    unsigned married = 0, homeless = 0;
    for (granary_ref r = granary_object_first(settlers); r != 0; r = granary_object_after(r)) {
        struct settler *s = granary_object_must(r);
        married += !granary_object_is_null(s->spouse.ref);
        homeless += granary_object_is_null(s->home);
    }
    granary_object_get_stats(settlers, &people, sizeof people);
    granary_object_get_stats(houses, &buildings, sizeof buildings);
    printf("year %3d: %4u settlers, %4u married, %4u without a house, %4u houses, %3u dead still remembered\n", year,
           (unsigned)people.alive, married, homeless, (unsigned)buildings.alive, (unsigned)people.unreleased);
}

int main(void)
{
    settlers = granary_object_type_new("settler", sizeof(struct settler), settler_fields, 2,
                                       GRANARY_OBJECT_SINGLE_OWNER);
    houses = granary_object_type_new("house", sizeof(struct house), house_fields, 1, GRANARY_OBJECT_SINGLE_OWNER);
    if (settlers == NULL || houses == NULL) {
        perror("granary_object_type_new");
        return 1;
    }
    for (int year = 0; year <= 200; year++) {
        for (int i = 0; i < 20; i++)
            settle(year, i);
        for (granary_ref r = granary_object_start(settlers); r != 0; r = granary_object_next(settlers, r))
            live(year, r);
        decay(year);
        if (year % 20 == 0)
            print(year);
    }
    granary_object_stats people, buildings;
    granary_object_delete_each(settlers);
    granary_object_delete_each(houses);
    granary_object_get_stats(settlers, &people, sizeof people);
    granary_object_get_stats(houses, &buildings, sizeof buildings);
    printf("all gone: %u settlers, %u houses, %u still held\n", (unsigned)people.alive, (unsigned)buildings.alive,
           (unsigned)(people.unreleased + buildings.unreleased));
    return 0;
}
