// Cells that compute in lockstep: each reads its neighbours' values of the previous step.

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <weir/weir.hpp>

namespace {

// [barrier]
struct row {
  std::vector<int> now;
  std::vector<int> next = now;
  weir::barrier step{now.size(), [this] { std::swap(now, next); }};  // run by the last to arrive
};

weir::task<> cell(row& cells, std::size_t i, int steps) {
  for (int s = 0; s < steps; ++s) {
    const auto left = i == 0 ? i : i - 1;
    const auto right = std::min(i + 1, cells.now.size() - 1);
    cells.next[i] = std::max({cells.now[left], cells.now[i], cells.now[right]});
    co_await cells.step.arrive_and_wait();  // waits until every cell has finished this step
  }
}
// [barrier]

}  // namespace

int main() {
  row cells{{1, 0, 0, 0, 0, 0, 7, 0}};
  weir::thread_pool threads(2);
  std::vector<weir::future<>> running;
  for (std::size_t i = 0; i < 8; ++i) running.push_back(weir::spawn(threads, cell(cells, i, 4)));
  for (auto& each : running) each.get().wait();
  return cells.now == std::vector<int>{1, 1, 7, 7, 7, 7, 7, 7} ? 0 : 1;
}
