// Under Asio, with weir::task on an io_context. Also what asio::post costs.

#include <deque>
#include <stop_token>
#include <tuple>

#include <weir/asio.hpp>

#include "asio_run.hpp"
#include "rows.hpp"
#include "tasks.hpp"

namespace bench {
namespace {

/// Posts itself until the count is used up.
struct reposted {
  asio::io_context& io;
  int& left;
  void operator()() const {
    if (--left > 0) asio::post(io, *this);
  }
};

void asio_post(const run& row) {
  constexpr int count = 5'000'000;
  int left = count;
  row.tell_each(run_on_context(1, [&](asio::io_context& io) { asio::post(io, reposted{io, left}); }), count);
}

void w4(const run& row) {
  weir::semaphore semaphore(permits);
  const auto all = [&](int rounds) {
    return run_on_context(row.threads(), [&](asio::io_context& io) {
      for (int i = 0; i < task_count; ++i) {
        std::ignore = weir::spawn(io.get_executor(), permitted_rounds(semaphore, rounds));
      }
    });
  };
  all(rounds_each / 20);
  row.tell_each(all(rounds_each), all_rounds);
}

void w7(const run& row) {
  asio::io_context io(1);
  weir::semaphore gate(0);
  park_and_release(
      row, io, [&](int) { std::ignore = weir::spawn(io.get_executor(), wait_at(gate)); },
      [&](std::size_t count) { gate.release(count); });
}

/// By stop token, and until the last task has ended.
void w8(const run& row) {
  constexpr int waiters = 100'000;
  asio::io_context io(1);
  weir::semaphore gate(0);
  std::deque<std::stop_source> sources;
  int stopped = 0;
  park_on(io, waiters, [&](int) {
    std::ignore = weir::spawn(io.get_executor(), wait_until_stopped(gate, sources.emplace_back().get_token(), stopped));
  });
  const timing took = timed([&] {
    stop_all(sources);
    finish_on(io);
  });
  expect(stopped == waiters, "all are cancelled");
  row.tell_each(took, waiters);
}

void w9a(const run& row) {
  asio::io_context io(1);
  weir::semaphore gate(0);
  limit_and_release(
      row, io, [&](int) { std::ignore = weir::spawn(io.get_executor(), wait_at_for_a_minute(gate)); },
      [&](std::size_t count) { gate.release(count); });
}

void w9b(const run& row) {
  constexpr int waiters = 100'000;
  weir::semaphore gate(0);
  weir::latch left(waiters);
  row.tell_total(run_on_context(1, [&](asio::io_context& io) {
    for (int i = 0; i < waiters; ++i) std::ignore = weir::spawn(io.get_executor(), time_out_at(gate, left));
  }));
  expect(left.try_wait(), "all time out");
}

timing through_pool(int threads, int count) {
  asio::io_context io(threads);
  weir::pool pool(io.get_executor(), 64);
  std::ignore = weir::spawn(io.get_executor(), submit_all(pool, count));
  return timed([&] { run_with(io, threads); });
}

void w10(const run& row) {
  constexpr int count = 1'000'000;
  through_pool(row.threads(), count / 20);
  row.tell_each(through_pool(row.threads(), count), count);
}

}  // namespace

void add_asio_floor(rows& all) { all.push_back({"asio_post", 1, asio_post}); }

void add_asio_task(rows& all) {
  all.push_back({"W4/asio_task", 1, w4});
  all.push_back({"W4/asio_task", 2, w4});
  all.push_back({"W7/asio_task", 1, w7});
  all.push_back({"W8/asio_task", 1, w8});
  all.push_back({"W9a/asio_task", 1, w9a});
  all.push_back({"W9b/asio_task", 1, w9b});
  all.push_back({"W10/asio_task", 1, w10});
  all.push_back({"W10/asio_task", 2, w10});
}

}  // namespace bench
