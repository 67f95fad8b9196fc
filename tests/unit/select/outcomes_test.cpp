// What a select comes to: which branch, with which value or failure, and what the others keep.

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <variant>

#include <gtest/gtest.h>

#include <weir/core/operation.hpp>
#include <weir/event.hpp>
#include <weir/future.hpp>
#include <weir/mutex.hpp>
#include <weir/queue.hpp>
#include <weir/select.hpp>
#include <weir/semaphore.hpp>
#include <weir/task.hpp>
#include <weir/wait/sleep.hpp>

#include <support/foreign.hpp>
#include <support/manual_executor.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;

TEST(select_outcome, of_a_closed_and_a_ready_branch_the_first_listed_decides) {
  event closed;
  closed.close();
  event open(true);
  EXPECT_EQ(select(closed.wait(), open.wait()).as_result().wait().error(), errc::closed);
  const auto won = select(open.wait(), closed.wait()).as_result().wait();
  ASSERT_TRUE(won);
  EXPECT_EQ(won->index(), 0u);
}

TEST(select_outcome, each_branch_can_win_when_it_was_queued_and_then_alone_takes) {
  for (std::size_t winner = 0; winner < 4; ++winner) {
    semaphore sem(0);
    mutex m;
    queue<int> q;
    event ready;
    ASSERT_TRUE(m.try_lock());
    std::optional<std::size_t> won;
    {
      auto waits = select(sem.scoped_acquire(), m.scoped_lock(), q.pop(), ready.wait()).start([&](auto outcome) {
        ASSERT_TRUE(outcome);
        won = outcome->index();
        if (won == 0u) {
          EXPECT_EQ(std::get<0>(*outcome).count(), 1u);
        }
        if (won == 1u) {
          EXPECT_TRUE(std::get<1>(*outcome));
        }
        if (won == 2u) {
          EXPECT_EQ(std::get<2>(*outcome), 5);
        }
      });
      EXPECT_EQ(sem.waiting() + m.waiting() + q.waiting() + ready.waiting(), 4u);
      if (winner == 0) sem.release();
      if (winner == 1) m.unlock();
      if (winner == 2) q.push(5).wait();
      if (winner == 3) ready.set();
    }
    EXPECT_EQ(won, winner);
    EXPECT_EQ(sem.waiting() + m.waiting() + q.waiting() + ready.waiting(), 0u);
    if (winner != 1) m.unlock();
    if (winner != 0) sem.release();
    EXPECT_EQ(sem.available(), 1u);
    EXPECT_FALSE(m.locked());
    EXPECT_TRUE(q.empty());
  }
}

TEST(select_outcome, of_a_branch_that_reports_is_its_result_whether_it_succeeds_or_fails) {
  semaphore sem(0);
  queue<std::unique_ptr<int>> q;
  q.push(std::make_unique<int>(3)).wait();
  auto first = select(sem.acquire().as_result(), q.pop().as_result()).wait();
  ASSERT_EQ(first.index(), 1u);
  ASSERT_TRUE(std::get<1>(first));
  EXPECT_EQ(***std::get<1>(first), 3);
  sem.release();
  auto second = select(sem.acquire().as_result(), q.pop().as_result()).wait();
  ASSERT_EQ(second.index(), 0u);
  EXPECT_TRUE(std::get<0>(second));
  EXPECT_EQ(sem.available(), 0u);
  std::optional<std::error_code> error;
  std::optional<std::size_t> index;
  auto waits = select(q.pop().as_result(), sem.acquire().as_result()).start([&](auto outcome) {
    ASSERT_TRUE(outcome) << "a failure that a branch reports is the success of the select";
    index = outcome->index();
    error = std::get<1>(*outcome).error();
  });
  sem.close();
  EXPECT_EQ(index, 1u);
  EXPECT_EQ(error, errc::closed);
  EXPECT_EQ(q.waiting(), 0u);
}

TEST(select_outcome, of_a_future_that_fails_is_thrown_or_reported) {
  event never;
  promise<int> failing;
  auto made = failing.get_future();
  failing.set_exception(std::make_exception_ptr(std::runtime_error("made")));
  auto reported = select(never.wait(), made.get().as_result()).wait();
  ASSERT_EQ(reported.index(), 1u);
  EXPECT_EQ(std::get<1>(reported).error(), errc::failed);
  EXPECT_THROW(std::rethrow_exception(std::get<1>(reported).exception()), std::runtime_error);

  promise<> dropped;
  auto nothing = dropped.get_future();
  dropped = promise<>();
  EXPECT_EQ(select(never.wait(), nothing.get()).as_result().wait().error(), errc::closed);
  EXPECT_EQ(never.waiting(), 0u);
}

TEST(select_outcome, a_limit_that_ends_it_takes_every_branch_out_and_gives_nothing_back) {
  manual_timers clock;
  use_timers by_hand(clock);
  std::stop_source stop;
  semaphore sem(0);
  queue<int> q;
  std::optional<std::error_code> error;
  auto note = [&](const auto& outcome) { error = outcome.error(); };
  auto timed = select(sem.acquire(), q.pop(), sleep_for(1h)).within(1ms).start(note);
  clock.advance(2ms);
  EXPECT_EQ(error, errc::timed_out);
  EXPECT_EQ(sem.waiting() + q.waiting(), 0u);
  EXPECT_EQ(clock.fire_expired(), std::nullopt) << "the sleep is still armed";
  error.reset();
  auto stopped = select(sem.acquire(), q.pop()).stop_on(stop.get_token()).start(note);
  stop.request_stop();
  EXPECT_EQ(error, errc::cancelled);
  EXPECT_EQ(sem.waiting() + q.waiting(), 0u);
  error.reset();
  auto cancelled = select(sem.acquire(), q.pop()).start(note);
  EXPECT_TRUE(cancelled.cancel());
  EXPECT_EQ(error, errc::cancelled);
  sem.release();
  q.push(1).wait();
  EXPECT_EQ(sem.available(), 1u);
  EXPECT_EQ(q.size(), 1u);
}

TEST(select_outcome, undelivered_is_given_back_by_the_branch_that_won_only) {
  for (const std::size_t winner : {0u, 1u, 2u}) {
    semaphore sem(0, 1);
    queue<int> q;
    mutex m;
    ASSERT_TRUE(m.try_lock());
    test::manual_executor executor;
    auto waits_there = [](semaphore& s, queue<int>& items, mutex& locked,
                          test::manual_executor& where) -> test::foreign {
      (void)co_await select(s.acquire(), items.pop(), locked.scoped_lock()).resume_on(where);
      ADD_FAILURE() << "resumed";
    };
    auto waits = waits_there(sem, q, m, executor);
    if (winner == 0) sem.release();
    if (winner == 1) q.push(1).wait();
    if (winner == 2) m.unlock();
    EXPECT_EQ(sem.available() + q.size(), 0u);
    waits.destroy();
    EXPECT_EQ(sem.available(), winner == 0 ? 1u : 0u);
    EXPECT_EQ(q.size(), winner == 1 ? 1u : 0u);
    EXPECT_EQ(m.locked(), winner != 2);
    EXPECT_TRUE(executor.empty());
    if (m.locked()) m.unlock();
  }
}

TEST(select_outcome, a_closed_one_that_was_not_delivered_gives_nothing_back) {
  semaphore sem(0, 1);
  event other;
  test::manual_executor executor;
  auto waits_there = [](semaphore& s, event& ready, test::manual_executor& where) -> test::foreign {
    (void)co_await select(s.acquire(), ready.wait()).as_result().resume_on(where);
    ADD_FAILURE() << "resumed";
  };
  auto waits = waits_there(sem, other, executor);
  sem.close();
  EXPECT_EQ(other.waiting(), 0u);
  waits.destroy();
  EXPECT_EQ(sem.available(), 0u);
}

/// An operation that is never ready, and always granted when it is started.
struct granted_at_its_start {
  using value_type = void;
  using node = core::waiter;
  core::answer try_now(node&) noexcept { return core::answer::not_ready; }
  core::answer start(node& starting, core::completion&) noexcept { return starting.decide(core::outcome::granted); }
  bool withdraw(node&, core::completion&) noexcept { return false; }
  void give_back(node&) noexcept {}
  void take(node&) noexcept {}
};

TEST(select_outcome, of_a_branch_that_its_own_start_grants_withdraws_those_queued_before_it) {
  event never;
  using branch = operation<granted_at_its_start>;
  EXPECT_EQ(select(never.wait(), branch(granted_at_its_start()), never.wait()).wait().index(), 1u);
  EXPECT_EQ(never.waiting(), 0u);
  std::optional<std::size_t> won;
  auto waits =
      select(never.wait(), branch(granted_at_its_start())).start([&](const auto& outcome) { won = outcome->index(); });
  EXPECT_EQ(won, 1u);
  EXPECT_EQ(never.waiting(), 0u);
}

TEST(select_outcome, of_one_branch_is_that_one) {
  semaphore sem(1);
  EXPECT_EQ(select(sem.acquire()).wait().index(), 0u);
  EXPECT_EQ(sem.available(), 0u);
}

}  // namespace
}  // namespace weir
