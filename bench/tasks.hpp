#pragma once

// The tasks that the workloads are made of, and how to run many of them. The rows under Asio run the same tasks.

#include <barrier>
#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <stop_token>
#include <tuple>
#include <utility>
#include <vector>

#include <weir/weir.hpp>

#include "harness.hpp"

namespace bench {

constexpr int task_count = 1000;
constexpr int rounds_each = 1000;
constexpr double all_rounds = 1'000'000;
constexpr std::size_t permits = 10;

/// Where the tasks of a row run: on a run_loop of this thread, or on a pool of several.
class place {
 public:
  explicit place(int threads) {
    if (threads == 1) {
      loop_.finish();  // from now on run() returns whenever nothing is left to run
    } else {
      pool_.emplace(static_cast<std::size_t>(threads));
      spread(threads);
    }
  }

  template <class Use>
  auto with_executor(Use use) {
    return pool_ ? use(*pool_) : use(loop_);
  }

  /// Runs `count` tasks that `make(i)` gives to their end.
  template <class Make>
  timing run(int count, Make make) {
    return pool_ ? run_on_pool(count, make) : timed([&] {
      for (int i = 0; i < count; ++i) std::ignore = weir::spawn(loop_, make(i));
      loop_.run();
    });
  }

 private:
  template <class Make>
  timing run_on_pool(int count, Make make) {
    std::vector<weir::future<void>> ends;
    ends.reserve(static_cast<std::size_t>(count));
    return timed([&] {
      for (int i = 0; i < count; ++i) ends.push_back(weir::spawn(*pool_, make(i)));
      for (auto& each : ends) each.get().wait();
    });
  }

  /// Each worker has a core of its own, as far as there are cores: left alone they may share one for the whole run.
  void spread(int threads) {
    std::barrier all(threads);
    run(threads, [&](int i) { return pin(all, i); });
  }

  static weir::task<> pin(std::barrier<>& all, int core) {
    all.arrive_and_wait();  // so each is in a worker of its own
    pin_this_thread(core);
    co_return;
  }

  weir::run_loop loop_;
  std::optional<weir::thread_pool> pool_;
};

inline weir::task<> permitted_rounds(weir::semaphore& semaphore, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    co_await semaphore.acquire();
    co_await weir::yield();
    semaphore.release();
  }
}

inline weir::task<> wait_at(weir::semaphore& gate) { co_await gate.acquire(); }

inline weir::task<> wait_until_stopped(weir::semaphore& gate, std::stop_token stop, int& stopped) {
  const auto passed = co_await gate.acquire().stop_on(std::move(stop));
  stopped += passed ? 0 : 1;
}

inline weir::task<> wait_at_for_a_minute(weir::semaphore& gate) {
  const auto passed = co_await gate.acquire().within(std::chrono::minutes(1));
  expect(passed.has_value(), "nobody times out");
}

/// Counts down when it has timed out.
inline weir::task<> time_out_at(weir::semaphore& gate, weir::latch& left) {
  const auto passed = co_await gate.acquire().within(std::chrono::milliseconds(10));
  expect(!passed.has_value(), "everybody times out");
  left.count_down();
}

/// Whoever waits is stopped, from the last to the first.
inline void stop_all(std::deque<std::stop_source>& sources) {
  for (auto last = sources.rbegin(); last != sources.rend(); ++last) last->request_stop();
}

inline weir::task<> trivial() { co_return; }

/// `count` trivial tasks through a pool.
inline weir::task<> submit_all(weir::pool& pool, int count) {
  for (int i = 0; i < count; ++i) std::ignore = co_await pool.submit(trivial());
  co_await pool.join();
}

}  // namespace bench
