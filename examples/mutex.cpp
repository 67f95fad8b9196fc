// A mutex that may be held across a co_await, and that reports a second lock by its owner instead of hanging.

#include <system_error>
#include <vector>

#include <weir/weir.hpp>

namespace {

// [mutex]
struct account {
  weir::mutex mutex;
  int balance = 0;
};

weir::task<> deposit(account& to, int amount) {
  auto lock = co_await to.mutex.scoped_lock();
  const int before = to.balance;
  co_await weir::yield();  // asks the database: other tasks run, the account stays locked
  to.balance = before + amount;
}  // unlocks, and hands the mutex to the first waiter

weir::task<bool> deposit_twice(account& to, int amount) {
  auto lock = co_await to.mutex.scoped_lock();
  try {
    co_await deposit(to, amount);  // locks a mutex that this chain of tasks already holds
  } catch (const std::system_error& e) {
    co_return e.code() == weir::errc::would_deadlock;
  }
  co_return false;
}
// [mutex]

}  // namespace

int main() {
  account shared;
  {
    weir::thread_pool threads(2);
    std::vector<weir::future<>> deposits;
    for (int i = 0; i < 100; ++i) deposits.push_back(weir::spawn(threads, deposit(shared, 1)));
    for (auto& each : deposits) each.get().wait();
  }
  const bool noticed = weir::sync_wait(deposit_twice(shared, 1));
  return noticed && shared.balance == 100 && !shared.mutex.locked() ? 0 : 1;
}
