// oneTBB: its bounded queue makes threads wait; a function_node of its flow graph runs at most so many at once, and
// keeps the rest in a list of its own.

#include <tbb/concurrent_queue.h>
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>

#include <cstddef>

#include "../harness.hpp"
#include "threads.hpp"

namespace {

using bench::run;

void w5(const run& row, int pairs) {
  tbb::concurrent_bounded_queue<int> queue;
  queue.set_capacity(64);
  const auto pop = [&] {
    int item = 0;
    queue.pop(item);
  };
  bench::through_queue(row, pairs, [&](int item) { queue.push(item); }, pop);
}

bench::timing through_node(int count) {
  tbb::flow::graph graph;
  tbb::flow::function_node<int, tbb::flow::continue_msg> trivial(graph, 64,
                                                                 [](int) { return tbb::flow::continue_msg(); });
  return bench::timed([&] {
    for (int i = 0; i < count; ++i) trivial.try_put(i);
    graph.wait_for_all();
  });
}

void w10(const run& row) {
  constexpr int count = 1'000'000;
  tbb::global_control threads(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(row.threads()));
  through_node(count / 20);
  row.tell_each(through_node(count), count);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::serve(argc, argv,
                      {{"W5/1x1", 2, [](const run& row) { w5(row, 1); }},
                       {"W5/4x4", 2, [](const run& row) { w5(row, 4); }},
                       {"W10", 1, w10},
                       {"W10", 2, w10}});
}
