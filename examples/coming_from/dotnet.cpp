// Coming from .NET: SemaphoreSlim as a lock with a time limit and a token, and a channel that keeps the newest.

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>
#include <utility>

#include <weir/weir.hpp>

using namespace std::chrono_literals;

namespace {

// [dotnet]
struct account {
  weir::mutex gate;                                                       // new SemaphoreSlim(1, 1)
  weir::queue<int> changes{3, weir::queue<int>::when_full::drop_oldest};  // BoundedChannelFullMode.DropOldest
  int balance = 0;
};

weir::task<std::string> deposit(account& to, int amount, std::stop_token token) {
  auto held = co_await to.gate.scoped_lock().within(5s).stop_on(token);  // WaitAsync(5000, token)
  if (!held) co_return held.error() == weir::errc::timed_out ? "busy" : "cancelled";
  to.balance += amount;
  co_await to.changes.push(to.balance);  // never waits: it drops the oldest
  co_return "done";
}  // no finally: the guard unlocks

weir::task<int> latest(account& of) {
  int last = 0;
  for (;;) {
    auto some = co_await of.changes.pop_many(10);  // WaitToReadAsync, then TryRead in a loop
    if (some.empty()) co_return last;              // completed
    last = some.back();
  }
}
// [dotnet]

}  // namespace

int main() {
  account one;
  std::stop_source stop;
  bool right = true;
  for (int i = 1; i <= 5; ++i) right = right && weir::sync_wait(deposit(one, i, stop.get_token())) == "done";
  right = right && one.changes.dropped() == 2;
  one.changes.close();  // Writer.Complete()
  right = right && weir::sync_wait(latest(one)) == 15;

  stop.request_stop();
  right = right && weir::sync_wait(deposit(one, 1, stop.get_token())) == "cancelled" && one.balance == 15;
  return right ? 0 : 1;
}
