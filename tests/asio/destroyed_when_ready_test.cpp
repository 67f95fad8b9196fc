// G15: coroutines that are destroyed, or cancelled, between their grant and their resumption by Asio.

#include <chrono>
#include <cstddef>
#include <future>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <weir/weir.hpp>

#include <asio/binding.hpp>
#include <support/foreign.hpp>
#include <support/manual_executor.hpp>
#include <support/started.hpp>

namespace weir::test {
namespace {

using namespace std::chrono_literals;

template <class Executor>
foreign acquires_there(semaphore& sem, Executor where, int& resumed) {
  co_await sem.acquire().resume_on(where);
  ++resumed;
}

template <class Executor>
task<> acquires_in_a_task(semaphore& sem, Executor where, int& resumed) {
  co_await sem.acquire().resume_on(where);
  ++resumed;
}

template <class Executor>
foreign awaits_a_task(semaphore& sem, Executor where, int& resumed) {
  co_await acquires_in_a_task(sem, where, resumed);
  ++resumed;
}

TEST(destroyed_when_ready, G2_a_coroutine_gives_back_its_grant_and_nothing_runs) {
  asio::io_context io;
  const auto strand = asio::make_strand(io);
  for (const std::size_t permits : {0U, 4U}) {
    semaphore sem(permits);
    int resumed = 0;
    std::vector<foreign> waits;
    waits.push_back(acquires_there(sem, io.get_executor(), resumed));
    waits.push_back(acquires_there(sem, strand, resumed));
    waits.push_back(awaits_a_task(sem, io.get_executor(), resumed));
    waits.push_back(awaits_a_task(sem, strand, resumed));
    if (permits == 0) sem.release(4);
    EXPECT_EQ(sem.available(), 0U);
    for (auto& each : waits) each.destroy();
    EXPECT_EQ(sem.available(), 4U);
    io.restart();
    io.run();
    EXPECT_EQ(resumed, 0);
  }
}

TEST(destroyed_when_ready, G2_what_is_given_back_goes_to_the_next_in_line) {
  asio::io_context io;
  semaphore sem(0);
  int first = 0;
  int second = 0;
  auto destroyed = acquires_there(sem, io.get_executor(), first);
  const auto next = acquires_there(sem, io.get_executor(), second);
  sem.release();
  destroyed.destroy();
  EXPECT_EQ(sem.available(), 0U);
  io.run();
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
}

template <class Executor>
foreign destroys_others(semaphore& sem, Executor where, std::vector<foreign>& others) {
  co_await sem.acquire().resume_on(where);
  others.clear();
}

TEST(destroyed_when_ready, G2_one_that_resumes_may_destroy_those_that_the_same_release_made_ready) {
  constexpr std::size_t others_in_all = 5;
  asio::io_context io;
  const auto strand = asio::make_strand(io);
  semaphore sem(0);
  int resumed = 0;
  std::vector<foreign> others;
  const auto first = destroys_others(sem, io.get_executor(), others);
  for (std::size_t i = 0; i < others_in_all; ++i) {
    others.push_back(i % 2 == 0 ? acquires_there(sem, io.get_executor(), resumed)
                                : acquires_there(sem, strand, resumed));
  }
  auto last = sem.acquire()(asio::use_future);
  sem.release(1 + others_in_all);
  io.run();
  EXPECT_EQ(resumed, 0);
  EXPECT_EQ(last.wait_for(0s), std::future_status::ready) << "it gets one of those that were given back";
  EXPECT_EQ(sem.available(), others_in_all - 1);
}

TEST(destroyed_when_ready, a_coroutine_that_yields_or_whose_sleep_is_over_is_not_resumed) {
  asio::io_context io;
  int resumed = 0;
  const auto sleeps = [](asio::io_context& where, int& counted) -> foreign {
    co_await sleep_for(0s).resume_on(where.get_executor());
    ++counted;
  };
  auto waits = sleeps(io, resumed);
  waits.destroy();
  io.run();
  EXPECT_EQ(resumed, 0);
}

TEST(destroyed_when_ready, G2_an_awaitable_that_is_cancelled_before_it_resumes_gives_back_its_grant) {
  asio::io_context io;
  const auto strand = asio::make_strand(io);
  semaphore sem(0);
  asio::cancellation_signal cancels;
  net_error got;
  auto waits = [&]() -> asio::awaitable<void> {
    auto [error] = co_await sem.acquire()(asio_tokens::as_tuple(asio::use_awaitable));
    EXPECT_TRUE(strand.running_in_this_thread());
    got = error;
  };
  asio::co_spawn(strand, waits, asio::bind_cancellation_slot(cancels.slot(), asio::detached));
  io.poll();
  EXPECT_EQ(sem.waiting(), 1U);
  asio::post(strand, [&] {  // there: co_spawn dispatches a cancellation to its executor
    sem.release();
    cancels.emit(asio::cancellation_type::terminal);
  });
  io.restart();
  io.run();
  EXPECT_EQ(got, asio::error::operation_aborted);
  EXPECT_EQ(sem.available(), 1U);
}

TEST(destroyed_when_ready, G2_everything_that_is_ready_in_a_context_that_goes_gives_back_its_grant) {
  semaphore sem(0);
  int resumed = 0;
  std::optional<future<>> made;
  {
    asio::io_context io;
    auto strand = asio::make_strand(io);
    sem.acquire()(asio::bind_executor(strand, [&](net_error) { ++resumed; }));
    sem.acquire()(asio::bind_executor(io, [&](net_error) { ++resumed; }));
    auto awaits = [&]() -> asio::awaitable<void> {
      co_await sem.acquire()(asio::use_awaitable);
      ++resumed;
    };
    asio::co_spawn(strand, awaits, asio::detached);
    const auto waits = [](semaphore& wanted, int& counted) -> task<> {
      co_await wanted.acquire();
      ++counted;
    };
    made = spawn(strand, waits(sem, resumed));
    io.poll();
    EXPECT_EQ(sem.waiting(), 4U);
    sem.release(4);
    EXPECT_EQ(sem.available(), 0U);
  }
  EXPECT_EQ(sem.available(), 4U);
  EXPECT_EQ(resumed, 0);
  EXPECT_EQ(made->get().as_result().wait().error(), errc::closed);
}

task<> waits_for(asio::steady_timer& timer, int& resumed) {
  co_await timer.async_wait(use_task);
  ++resumed;
}

foreign awaits_the_timer(asio::steady_timer& timer, int& resumed) {
  co_await timer.async_wait(use_task);
  ++resumed;
}

TEST(destroyed_when_ready, a_task_of_another_executor_whose_operation_of_asio_has_completed_is_not_resumed) {
  asio::io_context io;
  manual_executor home;
  int resumed = 0;
  asio::steady_timer timer(io, 0ms);
  started<> waits(home, waits_for(timer, resumed));
  io.run();
  EXPECT_FALSE(home.empty());
  waits.destroy();
  EXPECT_TRUE(home.empty());
  EXPECT_EQ(home.run_all(), 0U);
  EXPECT_EQ(resumed, 0);
}

task<> leaves_and_waits_for(asio::steady_timer& timer, manual_executor& other) {
  event set(true);
  co_await set.wait().resume_on(other);
  co_await timer.async_wait(use_task);
  co_await set.wait();
}

TEST(running, a_task_of_another_executor_is_home_after_an_operation_of_asio_and_needs_no_further_post) {
  asio::io_context io;
  manual_executor home;
  manual_executor other;
  asio::steady_timer timer(io, 0ms);
  started<> waits(home, leaves_and_waits_for(timer, other));
  EXPECT_EQ(other.run_all(), 1U);
  io.run();
  EXPECT_EQ(home.run_all(), 1U) << "a wait that is ready does not suspend a task that is at home";
  EXPECT_TRUE(waits.has_ended());
}

TEST(destroyed_when_ready, a_coroutine_whose_operation_of_asio_has_completed_is_not_resumed) {
  asio::io_context io;
  int resumed = 0;
  asio::steady_timer timer(io, 0ms);
  auto waits = awaits_the_timer(timer, resumed);
  timer.cancel();  // its handler is posted
  waits.destroy();
  io.run();
  EXPECT_EQ(resumed, 0);
}

}  // namespace
}  // namespace weir::test
