// G15: time limits run on the context itself, and cancellation slots withdraw.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <weir/weir.hpp>

#include <asio/binding.hpp>

namespace weir::test {
namespace {

using namespace std::chrono_literals;
using namespace asio_operators;

std::ptrdiff_t threads_now() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

TEST(asio_limits, G15_a_program_that_only_uses_asio_starts_no_thread) {
  const auto before = threads_now();
  asio::io_context io;
  semaphore sem(0);
  net_error timed_out;
  sem.acquire().within(1ms)(asio::bind_executor(io, [&](net_error error) { timed_out = error; }));
  auto waits = [](semaphore& wanted) -> task<std::error_code> {
    co_return (co_await wanted.acquire().within(1ms)).error();
  };
  auto made = spawn(io.get_executor(), waits(sem));
  io.run();
  EXPECT_EQ(std::error_code(timed_out), errc::timed_out);
  EXPECT_EQ(made.get().wait(), errc::timed_out);
  EXPECT_EQ(threads_now(), before);
}

TEST(asio_limits, G15_a_limit_that_is_no_longer_needed_does_not_keep_run_at_work) {
  asio::io_context io;
  semaphore sem(0);
  bool granted = false;
  sem.acquire().within(1h)(asio::bind_executor(io, [&](net_error error) { granted = !error; }));
  io.poll();
  sem.release();
  const auto before = std::chrono::steady_clock::now();
  io.run();
  EXPECT_TRUE(granted);
  EXPECT_LT(std::chrono::steady_clock::now() - before, 30min);
}

TEST(asio_limits, G9_limits_of_any_length_fire_in_order_and_never_early) {
  asio::io_context io;
  semaphore sem(0);
  std::vector<std::chrono::steady_clock::time_point> fired;
  int ended = 0;
  for (const int ms : {7, 1, 3, 5}) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
    auto armed = std::make_shared<bool>(false);
    sem.acquire().until(deadline)(asio::bind_executor(io, [&fired, &ended, armed, deadline](net_error) {
      ++ended;
      EXPECT_GE(std::chrono::steady_clock::now(), deadline);
      if (*armed) fired.push_back(deadline);
    }));
    *armed =
        std::chrono::steady_clock::now() < deadline;  // else this thread was off its core, and it timed out at once
  }
  io.run();
  EXPECT_EQ(ended, 4);
  EXPECT_TRUE(std::is_sorted(fired.begin(), fired.end()));
}

TEST(asio_limits, limits_of_waits_on_strands_and_type_erased_executors_run_on_their_context) {
  asio::io_context io;
  const auto before = threads_now();
  semaphore sem(0);
  int ended = 0;
  auto counts = [&](net_error) { ++ended; };
  sem.acquire().within(1ms)(asio::bind_executor(asio::make_strand(io), counts));
  sem.acquire().within(1ms)(asio::bind_executor(asio::any_io_executor(asio::make_strand(io)), counts));
  sem.acquire().within(1ms).resume_on(asio::make_strand(io))(counts);
  io.run();
  EXPECT_EQ(ended, 3);
  EXPECT_EQ(threads_now(), before);
}

TEST(asio_limits, a_limit_on_the_system_executor_runs_there) {
  semaphore sem(0);
  std::promise<std::error_code> got;
  auto takes = [&](net_error error) { got.set_value(error); };
  sem.acquire().within(1ms)(asio::bind_executor(asio::system_executor(), takes));
  EXPECT_EQ(got.get_future().get(), errc::timed_out);
}

class slot_types : public testing::TestWithParam<asio::cancellation_type> {};

TEST_P(slot_types, a_slot_withdraws_the_operation_with_operation_aborted) {
  asio::io_context io;
  semaphore sem(0);
  asio::cancellation_signal cancels;
  net_error got;
  sem.acquire()(
      asio::bind_cancellation_slot(cancels.slot(), asio::bind_executor(io, [&](net_error error) { got = error; })));
  bool second = false;
  sem.acquire()(asio::bind_executor(io, [&](net_error error) { second = !error; }));
  cancels.emit(GetParam());
  EXPECT_EQ(sem.waiting(), 1u);
  EXPECT_FALSE(got) << "called inside emit()";
  sem.release();
  io.run();
  EXPECT_EQ(got, asio::error::operation_aborted);
  EXPECT_TRUE(second);
}

INSTANTIATE_TEST_SUITE_P(all, slot_types,
                         testing::Values(asio::cancellation_type::terminal, asio::cancellation_type::partial,
                                         asio::cancellation_type::total));

TEST(asio_cancel, whatever_was_cancelled_is_operation_aborted) {
  asio::io_context io;
  semaphore sem(0);
  std::stop_source stop;
  net_error by_stop;
  net_error by_all;
  sem.acquire().stop_on(stop.get_token())(asio::bind_executor(io, [&](net_error error) { by_stop = error; }));
  sem.acquire()(asio::bind_executor(io, [&](net_error error) { by_all = error; }));
  stop.request_stop();
  sem.cancel_all();
  io.run();
  EXPECT_EQ(by_stop, asio::error::operation_aborted);
  EXPECT_EQ(by_all, asio::error::operation_aborted);
}

TEST(asio_cancel, G2_until_the_handler_is_called_the_slot_gives_the_grant_back) {
  asio::io_context io;
  queue<int> items;
  asio::cancellation_signal cancels;
  net_error got;
  auto takes = [&](net_error error, std::optional<int> item) {
    got = error;
    EXPECT_FALSE(item);
  };
  items.pop()(asio::bind_cancellation_slot(cancels.slot(), asio::bind_executor(io, takes)));
  items.try_push(1);
  items.try_push(2);
  cancels.emit(asio::cancellation_type::terminal);
  io.run();
  EXPECT_EQ(got, asio::error::operation_aborted);
  EXPECT_EQ(items.try_pop(), 1) << "back at the front";
  EXPECT_EQ(items.try_pop(), 2);
}

TEST(asio_cancel, G1_a_slot_that_comes_after_a_failure_does_not_change_it) {
  asio::io_context io;
  semaphore sem(0);
  asio::cancellation_signal cancels;
  net_error got;
  sem.acquire()(
      asio::bind_cancellation_slot(cancels.slot(), asio::bind_executor(io, [&](net_error error) { got = error; })));
  sem.close();
  cancels.emit(asio::cancellation_type::terminal);
  io.run();
  EXPECT_EQ(std::error_code(got), errc::closed);
}

TEST(asio_cancel, G1_a_slot_that_is_fired_by_what_the_start_runs_tells_the_handler_once) {
  asio::io_context io;
  asio::cancellation_signal cancels;
  barrier meets(1, [&] { cancels.emit(asio::cancellation_type::terminal); });
  int called = 0;
  meets.arrive_and_wait()(
      asio::bind_cancellation_slot(cancels.slot(), asio::bind_executor(io, [&](net_error) { ++called; })));
  io.run();
  EXPECT_EQ(called, 1);
}

TEST(asio_cancel, after_the_handler_was_called_the_slot_does_nothing) {
  asio::io_context io;
  semaphore sem(1);
  asio::cancellation_signal cancels;
  int called = 0;
  sem.acquire()(asio::bind_cancellation_slot(cancels.slot(), asio::bind_executor(io, [&](net_error) { ++called; })));
  io.run();
  cancels.emit(asio::cancellation_type::all);
  EXPECT_EQ(called, 1);
  EXPECT_EQ(sem.available(), 0u);
}

TEST(asio_cancel, or_takes_the_first_and_leaves_the_rest) {
  asio::io_context io;
  semaphore a(0);
  semaphore b(1);
  auto waits = [&]() -> asio::awaitable<void> {
    const auto first = co_await (a.acquire()(asio::use_awaitable) || b.acquire()(asio::use_awaitable));
    EXPECT_EQ(first.index(), 1u);
  };
  asio::co_spawn(io, waits, asio::detached);
  io.run();
  EXPECT_EQ(a.waiting(), 0u);
  a.release();
  EXPECT_EQ(a.available(), 1u);
  EXPECT_EQ(b.available(), 0u);
}

TEST(asio_cancel, and_takes_both) {
  asio::io_context io;
  semaphore a(1);
  queue<int> q;
  q.try_push(4);
  bool got = false;
  auto waits = [&]() -> asio::awaitable<void> {
    const auto item = co_await (a.acquire()(asio::use_awaitable) && q.pop()(asio::use_awaitable));
    got = item == 4;
  };
  asio::co_spawn(io, waits, asio::detached);
  io.run();
  EXPECT_TRUE(got);
}

TEST(asio_cancel, G15_a_pop_that_races_a_timer_loses_no_item) {
  constexpr int rounds = 5'000;
  asio::io_context io(1);
  queue<int> items;
  int next = 0;
  int popped = 0;
  int timed_out = 0;
  auto consumes = [&]() -> asio::awaitable<void> {
    asio::steady_timer timer(io);
    for (int round = 0; round < rounds; ++round) {
      timer.expires_after(std::chrono::microseconds(round % 7));
      const auto first = co_await (items.async_pop(asio::use_awaitable) || timer.async_wait(asio::use_awaitable));
      if (first.index() == 0) {
        EXPECT_EQ(std::get<0>(first), popped) << "each once, in order";
        ++popped;
      } else {
        ++timed_out;
      }
    }
  };
  bool finished = false;
  auto produces = [&]() -> asio::awaitable<void> {
    asio::steady_timer timer(io);
    while (!finished) {
      timer.expires_after(std::chrono::microseconds(next % 5));
      co_await timer.async_wait(asio::use_awaitable);
      items.try_push(next++);
    }
  };
  asio::co_spawn(io, consumes, [&](std::exception_ptr) { finished = true; });
  asio::co_spawn(io, produces, asio::detached);
  io.run();
  EXPECT_EQ(popped + timed_out, rounds);
  EXPECT_EQ(static_cast<std::size_t>(popped) + items.size(), static_cast<std::size_t>(next));
  EXPECT_GT(popped, 0);
  EXPECT_GT(timed_out, 0);
  for (int expected = popped; const auto item = items.try_pop(); ++expected) EXPECT_EQ(item, expected);
}

TEST(asio_cancel, G15_pushes_from_another_thread_race_slots_and_no_item_is_lost) {
  constexpr int items_in_all = 3'000;
  asio::io_context io(1);
  queue<int> items;
  int popped = 0;
  auto consumes = [&]() -> asio::awaitable<void> {
    asio::steady_timer timer(io);
    while (popped < items_in_all) {
      timer.expires_after(std::chrono::microseconds(popped % 5));
      const auto first = co_await (items.async_pop(asio::use_awaitable) || timer.async_wait(asio::use_awaitable));
      if (first.index() == 0) {
        EXPECT_EQ(std::get<0>(first), popped++);
      }
    }
  };
  asio::co_spawn(io, consumes, asio::detached);
  std::jthread produces([&] {
    for (int i = 0; i < items_in_all; ++i) {
      items.try_push(i);
      if (i % 3 == 0) std::this_thread::yield();
    }
  });
  io.run();
  EXPECT_EQ(popped, items_in_all);
}

}  // namespace
}  // namespace weir::test
