// W7–W9: very many waiters. They are parked, let through, cancelled, limited in time.

#include <algorithm>
#include <cstddef>
#include <deque>
#include <stop_token>
#include <string>
#include <tuple>
#include <vector>

#include "rows.hpp"
#include "tasks.hpp"

namespace bench {
namespace {

/// Tasks that wait at a gate, on a run_loop of this thread.
class crowd {
 public:
  crowd() { loop_.finish(); }  // from now on run() returns whenever nothing is left to run

  timing park(int waiters, weir::task<> (*wait)(weir::semaphore&)) {
    return timed([&] {
      for (int i = 0; i < waiters; ++i) std::ignore = weir::spawn(loop_, wait(gate_));
      loop_.run();
    });
  }

  timing release(int waiters) {
    return timed([&] {
      std::ignore = weir::spawn(loop_, open(gate_, static_cast<std::size_t>(waiters)));
      loop_.run();
    });
  }

 private:
  static weir::task<> open(weir::semaphore& gate, std::size_t waiters) {
    gate.release(waiters);
    co_return;
  }

  weir::run_loop loop_;
  weir::semaphore gate_{0};
};

void w7(const run& row) {
  constexpr int waiters = 1'000'000;
  crowd waiting;
  waiting.park(1000, wait_at);
  waiting.release(1000);

  const double before = resident();
  const timing parked = waiting.park(waiters, wait_at);
  const double after = resident();
  const timing released = waiting.release(waiters);
  row.tell_each(parked, waiters, "park_ns");
  row.tell("bytes_per_waiter", (after - before) / waiters, "bytes");
  row.tell_each(released, waiters, "release_ns");
}

// W8: from the last to the first. Where few wait there are several gates, so that the clock is not what is measured.

constexpr int w8_least = 1000;

class gates {
 public:
  explicit gates(int waiters) {
    for (int i = 0; i < std::max(1, w8_least / waiters); ++i) gates_.emplace_back(0U);
  }

  /// Calls `park(gate)` for each waiter of each gate; how many that are.
  template <class Park>
  int park(int waiters, Park park_at) {
    for (int i = 0; i < waiters; ++i) {
      for (auto& gate : gates_) park_at(gate);
    }
    return waiters * static_cast<int>(gates_.size());
  }

 private:
  std::deque<weir::semaphore> gates_;
};

struct cancelled_count {
  int& count;
  void operator()(const weir::result<>& ended) const { count += ended.error() == weir::errc::cancelled ? 1 : 0; }
};

timing cancel_by_ticket(int waiters, int& all) {
  gates where(waiters);
  int cancelled = 0;
  std::vector<weir::ticket> tickets;
  all = where.park(waiters, [&](auto& gate) { tickets.push_back(gate.acquire().start(cancelled_count{cancelled})); });
  const timing took = timed([&] {
    for (auto last = tickets.rbegin(); last != tickets.rend(); ++last) last->cancel();
  });
  expect(cancelled == all, "all are cancelled");
  return took;
}

timing cancel_by_stop_token(int waiters, int& all) {
  gates where(waiters);
  int cancelled = 0;
  std::deque<std::stop_source> sources;
  all = where.park(waiters, [&](auto& gate) {
    std::ignore = gate.acquire().stop_on(sources.emplace_back().get_token()).start(cancelled_count{cancelled});
  });
  const timing took = timed([&] { stop_all(sources); });
  expect(cancelled == all, "all are cancelled");
  return took;
}

/// At least 100,000 in all.
void w8(const run& row, int waiters, timing (*cancel)(int, int&)) {
  int each = 0;
  cancel(w8_least, each);
  timing took;
  double all = 0;
  while (all < 100'000) {
    took += cancel(waiters, each);
    all += each;
  }
  row.tell_each(took, all);
}

/// Tasks by stop token, until the last has ended.
void w8_task(const run& row) {
  constexpr int waiters = 100'000;
  weir::run_loop loop;
  loop.finish();
  weir::semaphore gate(0);
  std::deque<std::stop_source> sources;
  int stopped = 0;
  for (int i = 0; i < waiters; ++i) {
    std::ignore = weir::spawn(loop, wait_until_stopped(gate, sources.emplace_back().get_token(), stopped));
  }
  loop.run();
  row.tell_each(timed([&] {
                  stop_all(sources);
                  loop.run();
                }),
                waiters);
  expect(stopped == waiters, "all are cancelled");
}

/// So many waits with a time limit at once, all satisfied; at least 100,000 in all.
void w9a(const run& row, int waiters) {
  const int times = std::max(1, 100'000 / waiters);
  crowd waiting;
  waiting.park(1000, wait_at_for_a_minute);
  waiting.release(1000);
  const timing took = timed([&] {
    for (int i = 0; i < times; ++i) {
      waiting.park(waiters, wait_at_for_a_minute);
      waiting.release(waiters);
    }
  });
  row.tell_each(took, static_cast<double>(waiters) * times);
}

weir::task<> finish_after(weir::run_loop& loop, weir::latch& left) {
  co_await left.wait();
  loop.finish();
}

timing time_out(int waiters) {
  weir::run_loop loop;
  weir::semaphore gate(0);
  weir::latch left(static_cast<std::size_t>(waiters));
  return timed([&] {
    std::ignore = weir::spawn(loop, finish_after(loop, left));
    for (int i = 0; i < waiters; ++i) std::ignore = weir::spawn(loop, time_out_at(gate, left));
    loop.run();
  });
}

void w9b(const run& row) {
  time_out(1000);
  row.tell_total(time_out(100'000));
}

}  // namespace

void add_many(rows& all) {
  all.push_back({"W7", 1, w7});
  const auto add_w8 = [&all](const std::string& name, int waiters, auto cancel) {
    all.push_back({name, 1, [waiters, cancel](const run& row) { w8(row, waiters, cancel); }});
  };
  add_w8("W8", 100'000, cancel_by_ticket);
  add_w8("W8/stop_token", 100'000, cancel_by_stop_token);
  add_w8("W8/stop_token_1000", 1000, cancel_by_stop_token);
  all.push_back({"W8/task", 1, w8_task});
  all.push_back({"W9a", 1, [](const run& row) { w9a(row, 100'000); }});
  all.push_back({"W9b", 1, w9b});
  for (int count = 1; count <= 1'000'000; count *= 10) {
    add_w8("W8/waiters_" + std::to_string(count), count, cancel_by_ticket);
    all.push_back({"W9a/timers_" + std::to_string(count), 1, [count](const run& row) { w9a(row, count); }});
  }
}

}  // namespace bench
