// Six requests, at most three in a burst and one more every 100 ms; and three more after a rest. Time is moved by hand:
// the program takes none.
//
// Prints:
//   at the start: 3 sent
//   after 100 ms: 4 sent
//   after 200 ms: 5 sent
//   after 300 ms: 6 sent
//   after a long rest: 3 more at once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <stop_token>
#include <tuple>

#include <weir/weir.hpp>

using namespace std::chrono_literals;

namespace {

// [rate_by_time]
class rate {
 public:
  rate(std::size_t burst, std::chrono::milliseconds period) : tokens_(burst, burst), burst_(burst), period_(period) {}

  auto next() { return tokens_.acquire(); }  // an operation, with all limits and ways of waiting

  /// Runs next to the senders. Only this task releases, so no other release can invalidate its check.
  weir::task<> refill(std::stop_token stop) {
    for (;;) {
      auto slept = co_await weir::sleep_for(period_).stop_on(stop);
      if (!slept) co_return;
      if (tokens_.available() < burst_) tokens_.release();
    }
  }

 private:
  weir::semaphore tokens_;  // acquired and never returned: refill adds new ones
  std::size_t burst_;
  std::chrono::milliseconds period_;
};

weir::task<> send_all(rate& limit, int requests, int& sent) {
  for (; requests > 0; --requests) {
    co_await limit.next();
    ++sent;  // sends it
  }
}
// [rate_by_time]

weir::task<> settle() {
  for (int i = 0; i < 4; ++i) co_await weir::yield();  // whoever can go on has gone on
}

weir::task<bool> watch(weir::manual_timers& clock, rate& limit, int& sent, std::stop_source& stop) {
  co_await settle();
  std::printf("at the start: %d sent\n", sent);
  bool right = sent == 3;
  for (int ms = 100; ms <= 300; ms += 100) {
    clock.advance(100ms + 10us);  // limits are never early: a little more than the period
    co_await settle();
    std::printf("after %d ms: %d sent\n", ms, sent);
    right = right && sent == 3 + ms / 100;
  }

  for (int i = 0; i < 20; ++i) {  // a long rest, and nobody asks
    clock.advance(100ms + 10us);
    co_await settle();
  }
  const int before = sent;
  int burst = 0;
  for (;;) {
    auto now = co_await limit.next().within(0ms);
    if (!now) break;
    ++burst;
  }
  std::printf("after a long rest: %d more at once\n", burst);
  stop.request_stop();
  co_return right&& before == 6 && burst == 3;
}

}  // namespace

int main() {
  weir::manual_timers clock;
  const weir::use_timers by_hand(clock);
  rate limit(3, 100ms);
  int sent = 0;
  std::stop_source stop;
  const auto [refilled, all_sent, right] = weir::sync_wait(
      weir::when_all(limit.refill(stop.get_token()), send_all(limit, 6, sent), watch(clock, limit, sent, stop)));
  return right ? 0 : 1;
}
