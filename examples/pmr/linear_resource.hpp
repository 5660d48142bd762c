// A std::pmr::memory_resource over Granary's linear allocators and stacks: containers of the standard library in memory
// that lives a few frames.
#ifndef LINEAR_RESOURCE_HPP
#define LINEAR_RESOURCE_HPP

#include <granary.h>
#include <memory_resource>
#include <new>

// Memory that lives up to some frames. It may be freed by any thread.
class linear_resource : public std::pmr::memory_resource {
public:
    explicit linear_resource(granary_linear *linear) : linear_(linear) {}

private:
    void *do_allocate(std::size_t bytes, std::size_t alignment) override
    {
        void *block = granary_linear_alloc(linear_, bytes, alignment);
        if (block == nullptr)
            throw std::bad_alloc();
        return block;
    }

    void do_deallocate(void *block, std::size_t, std::size_t) override { granary_linear_free(linear_, block); }

    bool do_is_equal(const memory_resource &other) const noexcept override
    {
        auto *same = dynamic_cast<const linear_resource *>(&other);
        return same != nullptr && same->linear_ == linear_;
    }

    granary_linear *linear_;
};

// Memory that is gone at the end of a scope: everything that was allocated through a stack_scope goes with it.
class stack_scope : public std::pmr::memory_resource {
public:
    explicit stack_scope(granary_stack *stack) : stack_(stack), mark_(granary_stack_get_mark(stack)) {}
    ~stack_scope() override { granary_stack_rewind(stack_, mark_); }
    stack_scope(const stack_scope &) = delete;
    stack_scope &operator=(const stack_scope &) = delete;

private:
    void *do_allocate(std::size_t bytes, std::size_t alignment) override
    {
        void *block = granary_stack_alloc(stack_, bytes, alignment);
        if (block == nullptr)
            throw std::bad_alloc();
        return block;
    }

    void do_deallocate(void *, std::size_t, std::size_t) override {}

    bool do_is_equal(const memory_resource &other) const noexcept override { return this == &other; }

    granary_stack *stack_;
    granary_stack_mark mark_;
};

#endif
