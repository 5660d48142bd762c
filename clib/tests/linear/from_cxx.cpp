// The interface from C++: objects in linear memory, and memory that another thread frees.
// only: granary
// link: {granary}
#include "../test.h"
#include <cstddef>
#include <granary.h>
#include <new>
#include <thread>
#include <vector>

struct particle {
    double position[3];
    int age;
};

int main()
{
    granary_linear_config config{};
    config.name = "particles";
    config.max_age = 2;
    granary_linear *linear = granary_linear_create(&config, sizeof config);
    std::vector<particle *> particles;
    for (int i = 0; i < 1000; i++) {
        void *p = granary_linear_alloc(linear, sizeof(particle), alignof(particle));
        CHECKED(p != nullptr);
        particles.push_back(new (p) particle{{1.0 * i, 2, 3}, i});
    }
    std::thread([&] {
        for (int i = 0; i < 1000; i++) {
            CHECKED(particles[i]->age == i && particles[i]->position[0] == i);
            CHECKED(granary_linear_free(linear, particles[i]) == 0);
        }
    }).join();
    granary_linear_stats stats{};
    CHECKED(granary_linear_get_stats(linear, &stats, sizeof stats) == 0 && stats.live == 0);
    granary_stack *stack = granary_stack_create(linear, "worker", 4096);
    granary_stack_mark mark = granary_stack_get_mark(stack);
    CHECKED(granary_stack_alloc(stack, 100, alignof(std::max_align_t)) != nullptr);
    CHECKED(granary_stack_rewind(stack, mark) == 0);
    granary_stack_destroy(stack);
    CHECKED(granary_linear_destroy(linear) == 0);
    return 0;
}
