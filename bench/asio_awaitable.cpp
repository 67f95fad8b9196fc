// Under Asio, with asio::awaitable; and W8 with bare handlers and their slots.

#include <chrono>
#include <deque>
#include <tuple>
#include <utility>

#include <asio/experimental/as_tuple.hpp>

#include <weir/asio.hpp>
#include <weir/weir.hpp>

#include "asio_run.hpp"
#include "rows.hpp"

namespace bench {
namespace {

using asio::awaitable;
using asio::use_awaitable;

constexpr auto told = asio::experimental::as_tuple(use_awaitable);

awaitable<void> permitted_rounds(weir::semaphore& semaphore, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    co_await semaphore.async_acquire(use_awaitable);
    co_await asio::post(use_awaitable);
    semaphore.release();
  }
}

void w4(const run& row) {
  weir::semaphore semaphore(10);
  const auto all = [&](int rounds) {
    return run_on_context(row.threads(), [&](asio::io_context& io) {
      for (int i = 0; i < 1000; ++i) asio::co_spawn(io, permitted_rounds(semaphore, rounds), asio::detached);
    });
  };
  all(50);
  row.tell_each(all(1000), 1'000'000);
}

awaitable<void> wait_at(weir::semaphore& gate) { co_await gate.async_acquire(use_awaitable); }

void w7(const run& row) {
  asio::io_context io(1);
  weir::semaphore gate(0);
  park_and_release(
      row, io, [&](int) { asio::co_spawn(io, wait_at(gate), asio::detached); },
      [&](std::size_t count) { gate.release(count); });
}

awaitable<void> wait_until_cancelled(weir::semaphore& gate, int& cancelled) {
  const auto [error] = co_await gate.async_acquire(told);
  cancelled += error == asio::error::operation_aborted ? 1 : 0;
}

/// `start(signal)` starts one that its signal cancels; from the last to the first, until the last has been told.
template <class Start>
timing cancel_by_slot(asio::io_context& io, int waiters, Start start) {
  std::deque<asio::cancellation_signal> signals;
  park_on(io, waiters, [&](int) { start(signals.emplace_back()); });
  return timed([&] {
    for (auto last = signals.rbegin(); last != signals.rend(); ++last) last->emit(asio::cancellation_type::terminal);
    finish_on(io);
  });
}

void w8(const run& row) {
  constexpr int waiters = 100'000;
  asio::io_context io(1);
  weir::semaphore gate(0);
  int cancelled = 0;
  const timing took = cancel_by_slot(io, waiters, [&](asio::cancellation_signal& signal) {
    asio::co_spawn(io, wait_until_cancelled(gate, cancelled),
                   asio::bind_cancellation_slot(signal.slot(), asio::detached));
  });
  expect(cancelled == waiters, "all are cancelled");
  row.tell_each(took, waiters);
}

/// 100,000 in all, so many at once.
void w8_slot(const run& row, int waiters) {
  constexpr int all = 100'000;
  asio::io_context io(1);
  weir::semaphore gate(0);
  int cancelled = 0;
  const auto counts = [&](asio::error_code error) { cancelled += error == asio::error::operation_aborted ? 1 : 0; };
  const auto start = [&](asio::cancellation_signal& signal) {
    gate.acquire()(asio::bind_cancellation_slot(signal.slot(), asio::bind_executor(io.get_executor(), counts)));
  };
  timing took;
  while (cancelled < all) took += cancel_by_slot(io, waiters, start);
  row.tell_each(took, all);
}

awaitable<void> wait_within(weir::semaphore& gate, std::chrono::milliseconds limit, int& timed_out) {
  const auto [error] = co_await gate.acquire().within(limit)(told);
  timed_out += error == weir::errc::timed_out ? 1 : 0;
}

void w9a(const run& row) {
  asio::io_context io(1);
  weir::semaphore gate(0);
  int timed_out = 0;
  limit_and_release(
      row, io, [&](int) { asio::co_spawn(io, wait_within(gate, std::chrono::minutes(1), timed_out), asio::detached); },
      [&](std::size_t count) { gate.release(count); });
  expect(timed_out == 0, "nobody times out");
}

void w9b(const run& row) {
  constexpr int waiters = 100'000;
  weir::semaphore gate(0);
  int timed_out = 0;
  row.tell_total(run_on_context(1, [&](asio::io_context& io) {
    for (int i = 0; i < waiters; ++i) {
      asio::co_spawn(io, wait_within(gate, std::chrono::milliseconds(10), timed_out), asio::detached);
    }
  }));
  expect(timed_out == waiters, "all time out");
}

awaitable<void> trivial() { co_return; }

awaitable<void> submit_all(weir::pool& pool, int count) {
  for (int i = 0; i < count; ++i) std::ignore = co_await pool.async_submit(trivial(), use_awaitable);
  co_await pool.async_join(use_awaitable);
}

timing through_pool(int threads, int count) {
  asio::io_context io(threads);
  weir::pool pool(io.get_executor(), 64);
  asio::co_spawn(io, submit_all(pool, count), asio::detached);
  return timed([&] { run_with(io, threads); });
}

void w10(const run& row) {
  constexpr int count = 1'000'000;
  through_pool(row.threads(), count / 20);
  row.tell_each(through_pool(row.threads(), count), count);
}

}  // namespace

void add_asio_awaitable(rows& all) {
  all.push_back({"W4/asio_awaitable", 1, w4});
  all.push_back({"W4/asio_awaitable", 2, w4});
  all.push_back({"W7/asio_awaitable", 1, w7});
  all.push_back({"W8/asio_awaitable", 1, w8});
  all.push_back({"W8/asio_slot", 1, [](const run& row) { w8_slot(row, 100'000); }});
  all.push_back({"W8/asio_slot_1000", 1, [](const run& row) { w8_slot(row, 1000); }});
  all.push_back({"W9a/asio_awaitable", 1, w9a});
  all.push_back({"W9b/asio_awaitable", 1, w9b});
  all.push_back({"W10/asio_awaitable", 1, w10});
  all.push_back({"W10/asio_awaitable", 2, w10});
}

}  // namespace bench
