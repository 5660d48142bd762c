// game_frames: a scene of objects is changed frame by frame: many small temporaries that die within
// the frame, some that live a few frames, few that stay; a second thread makes the jobs of the
// frame.
//
// Models a game engine in C++: virtual objects behind shared_ptr, vectors of commands built anew
// each frame, events handed from the job thread to the main thread. The figure is time for the
// frames without rendering.
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench.h"

namespace {

struct Node {
  virtual ~Node() = default;
  virtual uint64_t update(uint32_t frame) = 0;
  std::vector<std::shared_ptr<Node>> children;
};

struct Body : Node {
  float position[16] = {0};
  uint64_t update(uint32_t frame) override { return (uint64_t)(position[frame % 16] += 1); }
};

struct Label : Node {
  std::string text;
  explicit Label(uint32_t number) : text("label number " + std::to_string(number)) {}
  uint64_t update(uint32_t frame) override {
    text += (char)('a' + frame % 26);
    if (text.size() > 120) text = text.substr(0, 20);
    return text.size();
  }
};

struct Event {
  uint32_t frame;
  std::vector<uint32_t> targets;
  std::function<uint64_t()> action;
};

std::shared_ptr<Node> make_node(bench_random *random, uint32_t number) {
  if (bench_below(random, 3) == 0) return std::make_shared<Label>(number);
  return std::make_shared<Body>();
}

// What the job thread does for one frame; the events are freed by the main thread.
std::vector<std::unique_ptr<Event>> make_events(bench_random *random, uint32_t frame, int count) {
  std::vector<std::unique_ptr<Event>> events;
  for (int i = 0; i < count; i++) {
    auto event = std::make_unique<Event>();
    event->frame = frame;
    size_t targets = bench_skewed(random, 1, 40);
    for (size_t k = 0; k < targets; k++) event->targets.push_back(bench_below(random, 1000));
    uint64_t one = bench_next(random), two = frame, three = targets;
    // Too large to be kept inside of std::function: a block of its own.
    event->action = [one, two, three] { return one % 1000 + two + three; };
    events.push_back(std::move(event));
  }
  return events;
}

uint64_t update_scene(std::vector<std::shared_ptr<Node>> &scene, uint32_t frame) {
  uint64_t sum = 0;
  std::vector<std::shared_ptr<Node>> visible; // rebuilt each frame
  for (auto &node : scene)
    for (auto &child : node->children)
      if (child) visible.push_back(child);
  for (auto &node : visible) sum += node->update(frame);
  return sum;
}

} // namespace

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 2);
  bench.threads = 2;
  bench_random random = bench_seed(29), job_random = bench_seed(30);
  std::vector<std::shared_ptr<Node>> scene;
  for (uint32_t i = 0; i < 200; i++) {
    scene.push_back(make_node(&random, i));
    for (uint32_t k = 0; k < 10; k++) scene.back()->children.push_back(make_node(&random, k));
  }
  uint32_t frames = (uint32_t)bench_scaled(&bench, 2500, 10);
  // The job thread is two frames ahead at most: it needs a permit for each frame.
  static bench_queue queue, permits;
  int permit = 0;
  for (int i = 0; i < 2; i++) bench_give(&permits, &permit);
  std::thread jobs([&] {
    for (uint32_t frame = 0; frame < frames; frame++, bench_take(&permits))
      bench_give(&queue,
                 new std::vector<std::unique_ptr<Event>>(make_events(&job_random, frame, 300)));
  });
  std::deque<std::shared_ptr<Node>> lasting;
  uint64_t checksum = 0;
  for (uint32_t frame = 0; frame < frames; frame++) {
    std::unique_ptr<std::vector<std::unique_ptr<Event>>> events(
        static_cast<std::vector<std::unique_ptr<Event>> *>(bench_take(&queue)));
    for (auto &event : *events) {
      checksum += event->action();
      auto &parent = scene[event->targets[0] % scene.size()];
      parent->children[event->targets.size() % 10] = make_node(&random, frame);
      if (event->targets.size() == 30) lasting.push_back(parent->children[0]);
    }
    while (lasting.size() > 500) lasting.pop_front();
    checksum += update_scene(scene, frame);
    events.reset();
    bench_give(&permits, &permit);
  }
  jobs.join();
  bench_finish(&bench, checksum);
  return 0;
}
