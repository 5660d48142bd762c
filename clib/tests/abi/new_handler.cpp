// At the limit every throwing form of new calls the new_handler until it gives up or throws, then
// throws bad_alloc; every nothrow form returns null; malloc never calls the handler.
// covers: 39 44
// only: granary
// env: GRANARY_ALLOC_LIMIT=16M
// also: GRANARY_DEBUG_ALLOC=1
#include "test.h"
#include <new>

namespace {

const std::size_t too_much = opaque_size(64 * MIB);
const std::align_val_t wide{64};
int handler_calls;
void *reserve;

void giving_handler()
{
    if (++handler_calls == 3)
        std::set_new_handler(nullptr);
}

struct Refusal {};
void throwing_handler()
{
    handler_calls++;
    throw Refusal();
}

void freeing_handler()
{
    handler_calls++;
    ::operator delete(reserve);
    reserve = nullptr;
    std::set_new_handler(nullptr);
}

template <typename Call> void expect_bad_alloc(const char *name, Call call)
{
    handler_calls = 0;
    std::set_new_handler(giving_handler);
    bool thrown = false;
    try {
        opaque_pointer(call());
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    CHECK(thrown, "%s did not throw bad_alloc", name);
    CHECK(handler_calls == 3, "%s called the handler %d times, not 3", name, handler_calls);

    handler_calls = 0;
    std::set_new_handler(throwing_handler);
    thrown = false;
    try {
        opaque_pointer(call());
    } catch (const Refusal &) {
        thrown = true;
    }
    CHECK(thrown && handler_calls == 1, "%s did not let the handler's exception through", name);
    std::set_new_handler(nullptr);
}

template <typename Call> void expect_null(const char *name, Call call)
{
    std::set_new_handler(nullptr);
    CHECK(opaque_pointer(call()) == nullptr, "%s gave a block", name);
    handler_calls = 0;
    std::set_new_handler(giving_handler);
    CHECK(opaque_pointer(call()) == nullptr, "%s gave a block", name);
    CHECK(handler_calls == 3, "%s called the handler %d times, not 3", name, handler_calls);
    // A nothrow form calls the throwing one and turns its bad_alloc into null. A handler may throw
    // bad_alloc only.
    std::set_new_handler([] { throw std::bad_alloc(); });
    CHECK(opaque_pointer(call()) == nullptr, "%s let bad_alloc through", name);
    std::set_new_handler(nullptr);
}

} // namespace

int main()
{
    expect_bad_alloc("new", [] { return ::operator new(too_much); });
    expect_bad_alloc("new[]", [] { return ::operator new[](too_much); });
    expect_bad_alloc("aligned new", [] { return ::operator new(too_much, wide); });
    expect_bad_alloc("aligned new[]", [] { return ::operator new[](too_much, wide); });
    expect_bad_alloc("new of SIZE_MAX", [] { return ::operator new(opaque_size(SIZE_MAX)); });
    expect_null("nothrow new", [] { return ::operator new(too_much, std::nothrow); });
    expect_null("nothrow new[]", [] { return ::operator new[](too_much, std::nothrow); });
    expect_null("aligned nothrow new", [] { return ::operator new(too_much, wide, std::nothrow); });
    expect_null("aligned nothrow new[]",
                [] { return ::operator new[](too_much, wide, std::nothrow); });

    // A handler that frees something lets the request succeed.
    reserve = ::operator new(10 * MIB);
    handler_calls = 0;
    std::set_new_handler(freeing_handler);
    void *block = ::operator new(10 * MIB);
    CHECK(block != nullptr && handler_calls == 1, "the handler made room, new did not use it");
    ::operator delete(block);

    handler_calls = 0;
    std::set_new_handler(giving_handler);
    CHECK(opaque_pointer(malloc(too_much)) == nullptr && handler_calls == 0,
          "malloc called the new_handler");
    std::set_new_handler(nullptr);

    // The small classes at the limit: exceptions work when nothing else is left.
    struct Link { Link *next; char rest[1000]; };
    Link *chain = nullptr;
    bool thrown = false;
    try {
        for (;;)
            chain = new Link{chain, {}};
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    CHECK(thrown, "no bad_alloc");
    while (chain) {
        Link *next = chain->next;
        delete chain;
        chain = next;
    }
    return 0;
}
