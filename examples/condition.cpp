// Items are taken in batches: a full batch, or after a time limit the items that there are.

#include <chrono>
#include <utility>
#include <vector>

#include <weir/weir.hpp>

using namespace std::chrono_literals;

namespace {

// [condition]
struct batch {
  weir::mutex mutex;
  weir::condition grown;
  std::vector<int> items;
};

weir::task<> add(batch& to, int item) {
  auto held = co_await to.mutex.scoped_lock();
  to.items.push_back(item);
  to.grown.notify_one();
}

weir::task<std::vector<int>> take(batch& from, std::chrono::milliseconds longest) {
  auto held = co_await from.mutex.scoped_lock();
  auto full = [&from] { return from.items.size() >= 3; };
  auto in_time = co_await from.grown.wait(held, full).within(longest);  // the mutex is unlocked while it waits
  if (!in_time && !held) co_return {};      // the mutex was closed: the only case in which it is not locked again
  co_return std::exchange(from.items, {});  // a full batch, or after a time-out the items so far
}
// [condition]

}  // namespace

int main() {
  batch one;
  auto [full, a, b, c] = weir::sync_wait(weir::when_all(take(one, 1h), add(one, 1), add(one, 2), add(one, 3)));
  bool right = full == std::vector<int>{1, 2, 3};

  auto [late, d] = weir::sync_wait(weir::when_all(take(one, 5ms), add(one, 4)));
  right = right && late == std::vector<int>{4} && !one.mutex.locked();
  return right ? 0 : 1;
}
