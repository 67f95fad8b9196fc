// Coming from cppcoro: the same mutex and event, with a queue of a hundred thousand behind one lock, and a wait that
// can be given up.

#include <chrono>
#include <utility>
#include <vector>

#include <weir/weir.hpp>

using namespace std::chrono_literals;

namespace {

// [cppcoro]
struct counter {
  weir::mutex mutex;  // async_mutex
  weir::event open;   // async_manual_reset_event
  int count = 0;
};

weir::task<> count_up(counter& shared) {
  auto lock = co_await shared.mutex.scoped_lock();  // scoped_lock_async()
  ++shared.count;
  co_await shared.open.wait();  // the first one waits here, all others for the lock
}

weir::task<bool> impatient(counter& shared) {
  auto lock = co_await shared.mutex.scoped_lock().within(1ms);  // async_mutex has no time limits
  co_return lock.has_value();
}

weir::task<> let_go(counter& shared) {
  shared.open.set();  // each unlock posts the next waiter: the stack does not grow
  co_return;
}
// [cppcoro]

}  // namespace

int main() {
  constexpr int many = 100'000;
  counter shared;
  weir::run_loop loop;
  std::vector<weir::future<void>> counted;
  counted.reserve(many + 1);
  for (int i = 0; i < many; ++i) counted.push_back(weir::spawn(loop, count_up(shared)));
  bool got_it = true;
  {
    auto first = shared.mutex.try_scoped_lock();
    got_it = weir::sync_wait(impatient(shared));
  }
  counted.push_back(weir::spawn(loop, let_go(shared)));
  loop.finish();
  loop.run();
  bool right = !got_it && shared.count == many && !shared.mutex.locked();
  for (auto& each : counted) right = right && each.ready();
  return right ? 0 : 1;
}
