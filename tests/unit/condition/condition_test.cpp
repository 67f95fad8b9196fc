// Notifications, limits and predicates.

#include <chrono>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/condition.hpp>
#include <weir/event.hpp>
#include <weir/mutex.hpp>
#include <weir/spawn.hpp>
#include <weir/task.hpp>

#include <support/foreign.hpp>
#include <support/manual_executor.hpp>
#include <support/notes.hpp>
#include <unit/condition/waiters.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using test::condition_with_clock;
using test::foreign;
using test::keeps_its_outcome;
using test::logs_when_notified;
using test::manual_executor;
using test::shared_state;
using test::waits_for_one;

TEST(condition, lets_go_of_the_mutex_while_it_waits_and_holds_it_afterwards) {
  shared_state state;
  auto waits = logs_when_notified(state, 1);
  EXPECT_FALSE(state.guards.locked());
  EXPECT_EQ(state.changed.waiting(), 1u);
  ASSERT_TRUE(state.guards.try_lock());
  state.changed.notify_one();
  EXPECT_TRUE(state.log.empty()) << "it was told before it had the mutex";
  EXPECT_EQ(state.changed.waiting(), 0u);
  EXPECT_EQ(state.guards.waiting(), 1u);
  state.guards.unlock();
  EXPECT_EQ(state.log, std::vector{1});
  EXPECT_FALSE(state.guards.locked());
}

TEST(condition, notify_one_wakes_the_first_and_notify_all_the_rest_in_order) {
  shared_state state;
  std::vector<foreign> waits;
  for (int id = 0; id < 5; ++id) waits.push_back(logs_when_notified(state, id));
  state.changed.notify_one();
  EXPECT_EQ(state.log, std::vector{0});
  state.changed.notify_all();
  EXPECT_EQ(state.log, (std::vector{0, 1, 2, 3, 4}));
}

TEST(condition, a_notification_with_nobody_waiting_is_not_kept) {
  shared_state state;
  state.changed.notify_one();
  state.changed.notify_all();
  auto waits = logs_when_notified(state, 1);
  EXPECT_TRUE(state.log.empty());
  state.changed.notify_one();
  EXPECT_EQ(state.log, std::vector{1});
}

TEST(condition, G12_waiting_with_an_empty_guard_throws_where_it_is_called) {
  condition changed;
  mutex::guard nothing;
  EXPECT_EQ(test::refusal_of([&] { (void)changed.wait(nothing); }, "weir::condition::wait"), errc::not_owner);
}

TEST(condition, a_blocked_thread_waits_like_a_coroutine) {
  shared_state state;
  bool ready = false;
  std::jthread waits([&] {
    auto held = state.guards.scoped_lock().wait();
    state.changed.wait(held, [&] { return ready; }).wait();
    EXPECT_TRUE(held.owns_lock());
    EXPECT_EQ(state.guards.lock().as_result().wait().error(), errc::would_deadlock) << "the thread owns it again";
    state.log.push_back(1);
  });
  while (state.changed.waiting() == 0) std::this_thread::yield();
  {
    auto held = state.guards.scoped_lock().wait();
    state.changed.notify_one();  // too early: it looks, and waits on
  }
  while (state.changed.waiting() == 0) std::this_thread::yield();
  {
    auto held = state.guards.scoped_lock().wait();
    EXPECT_TRUE(state.log.empty());
    ready = true;
  }
  state.changed.notify_one();
  waits.join();
  EXPECT_EQ(state.log, std::vector{1});
}

task<std::error_code> waits_and_locks_again(shared_state& state) {
  auto held = co_await state.guards.scoped_lock();
  co_await state.changed.wait(held);
  co_return (co_await state.guards.lock().as_result()).error();
}

TEST(condition, a_task_owns_the_mutex_again_and_goes_on_on_its_executor) {
  shared_state state;
  manual_executor executor;
  auto ends = spawn(executor, waits_and_locks_again(state));
  executor.run_all();
  state.changed.notify_one();
  EXPECT_TRUE(state.guards.locked()) << "handed over with the notification";
  EXPECT_FALSE(ends.ready());
  executor.run_all();
  EXPECT_EQ(ends.get().wait(), errc::would_deadlock);
}

TEST_F(condition_with_clock, a_limit_covers_the_notification_and_not_the_lock) {
  auto waits = keeps_its_outcome(state, error, [](auto&& op) { return std::move(op).within(10ms); });
  ASSERT_TRUE(state.guards.try_lock());
  clock.advance(11ms);
  EXPECT_EQ(state.changed.waiting(), 0u);
  EXPECT_FALSE(error) << "it has timed out, and waits for the mutex";
  clock.advance(1h);
  EXPECT_FALSE(error);
  state.guards.unlock();
  EXPECT_EQ(error, errc::timed_out);
}

TEST_F(condition_with_clock, a_stop_ends_the_wait_for_the_notification) {
  std::stop_source stop;
  auto waits = keeps_its_outcome(state, error, [&](auto&& op) { return std::move(op).stop_on(stop.get_token()); });
  EXPECT_FALSE(error);
  stop.request_stop();
  EXPECT_EQ(error, errc::cancelled);
  EXPECT_FALSE(state.guards.locked());
}

TEST_F(condition_with_clock, G2_a_notification_that_was_won_is_success_however_late) {
  std::stop_source stop;
  auto waits =
      keeps_its_outcome(state, error, [&](auto&& op) { return std::move(op).within(10ms).stop_on(stop.get_token()); });
  ASSERT_TRUE(state.guards.try_lock());
  state.changed.notify_one();
  clock.advance(1h);
  stop.request_stop();
  state.guards.unlock();
  EXPECT_EQ(error, std::error_code());
}

TEST_F(condition_with_clock, G9_a_zero_limit_never_waits_and_never_lets_go) {
  auto looks = [](shared_state& shared, std::optional<std::error_code>& outcome) -> foreign {
    auto held = co_await shared.guards.scoped_lock();
    auto let_through = shared.guards.lock().start([&](result<>) { shared.guards.unlock(); });
    outcome = (co_await shared.changed.wait(held).within(0s)).error();
    EXPECT_FALSE(let_through.done()) << "the mutex was let go";
    EXPECT_TRUE(held.owns_lock());
  };
  auto waits = looks(state, error);
  EXPECT_EQ(error, errc::timed_out);
}

TEST_F(condition_with_clock, G2_a_stop_requested_before_never_waits) {
  std::stop_source stop;
  stop.request_stop();
  auto waits = keeps_its_outcome(state, error, [&](auto&& op) { return std::move(op).stop_on(stop.get_token()); });
  EXPECT_EQ(error, errc::cancelled);
}

TEST_F(condition_with_clock, the_predicate_is_looked_at_before_waiting) {
  state.value = 1;
  auto waits = waits_for_one(state, error, [](auto&& op) { return std::move(op).within(0s); });
  EXPECT_EQ(error, std::error_code());
}

TEST_F(condition_with_clock, a_notification_without_the_predicate_is_not_enough) {
  auto waits = waits_for_one(state, error, [](auto&& op) { return std::move(op).within(10ms); });
  for (int i = 0; i < 3; ++i) {
    state.changed.notify_all();
    EXPECT_FALSE(error);
    EXPECT_EQ(state.changed.waiting(), 1u);
    EXPECT_FALSE(state.guards.locked());
  }
  state.value = 1;
  state.changed.notify_one();
  EXPECT_EQ(error, std::error_code());
}

TEST_F(condition_with_clock, a_limit_is_counted_from_the_start_over_all_notifications) {
  auto waits = waits_for_one(state, error, [](auto&& op) { return std::move(op).within(10ms); });
  clock.advance(6ms);
  state.changed.notify_all();
  EXPECT_FALSE(error);
  clock.advance(6ms);
  EXPECT_EQ(error, errc::timed_out);
}

TEST_F(condition_with_clock, after_a_time_out_the_wait_succeeds_if_the_predicate_holds) {
  auto waits = waits_for_one(state, error, [](auto&& op) { return std::move(op).within(10ms); });
  state.value = 1;
  clock.advance(11ms);
  EXPECT_EQ(error, std::error_code());
}

TEST_F(condition_with_clock, after_a_stop_the_wait_succeeds_if_the_predicate_holds) {
  std::stop_source stop;
  auto waits = waits_for_one(state, error, [&](auto&& op) { return std::move(op).stop_on(stop.get_token()); });
  state.value = 1;
  stop.request_stop();
  EXPECT_EQ(error, std::error_code());
}

TEST(condition, the_predicate_is_called_by_the_waiter_on_its_executor_under_the_mutex) {
  shared_state state;
  manual_executor executor;
  int looks = 0;
  auto counts = [](shared_state& shared, int& looked) -> task<> {
    auto held = co_await shared.guards.scoped_lock();
    auto is_one = [&] {
      EXPECT_TRUE(shared.guards.locked());
      ++looked;
      return shared.value == 1;
    };
    co_await shared.changed.wait(held, is_one);
  };
  auto ends = spawn(executor, counts(state, looks));
  executor.run_all();
  EXPECT_EQ(looks, 1);
  state.changed.notify_one();
  EXPECT_EQ(looks, 1) << "called by the notifier";
  executor.run_all();
  EXPECT_EQ(looks, 2);
  state.value = 1;
  state.changed.notify_one();
  executor.run_all();
  EXPECT_EQ(looks, 3);
  EXPECT_TRUE(ends.ready());
}

TEST(condition, what_the_predicate_throws_is_thrown_at_the_waiter_who_holds_the_mutex) {
  shared_state state;
  std::string caught;
  bool held_then = false;
  auto waits_badly = [](shared_state& shared, std::string& what, bool& held_it) -> foreign {
    auto held = co_await shared.guards.scoped_lock();
    auto throws_at_one = [&] {
      if (shared.value == 1) throw std::runtime_error("one");
      return false;
    };
    try {
      co_await shared.changed.wait(held, throws_at_one);
    } catch (const std::runtime_error& thrown) {
      what = thrown.what();
    }
    held_it = held.owns_lock();
  };
  auto waits = waits_badly(state, caught, held_then);
  state.value = 1;
  state.changed.notify_one();
  EXPECT_EQ(caught, "one");
  EXPECT_TRUE(held_then);
  EXPECT_FALSE(state.guards.locked());
}

TEST(condition, G7_whom_the_wait_lets_through_may_block_until_the_waiter_has_gone_on) {
  shared_state state;
  event went_on;
  auto waits_for_it = [](shared_state& shared, event& after) -> foreign {
    auto held = co_await shared.guards.scoped_lock();
    auto let_through = shared.guards.lock().start([&](result<>) {
      shared.guards.unlock();
      std::jthread([&] { shared.changed.notify_one(); }).join();
      after.wait().wait();
    });
    co_await shared.changed.wait(held);
    after.set();
  };
  auto waits = waits_for_it(state, went_on);
  EXPECT_TRUE(went_on.is_set());
}

TEST(condition, G2_notifications_race_limits_and_none_is_lost) {
  constexpr int items = 3'000;
  shared_state state;
  int taken = 0;
  auto consumes = [&] {
    while (taken < items) {
      auto held = state.guards.scoped_lock().wait();
      const auto got = state.changed.wait(held, [&] { return state.value > 0; }).within(20us).wait();
      EXPECT_TRUE(held.owns_lock());
      if (!got) continue;
      --state.value;
      ++taken;
    }
  };
  thread_pool pool(2);
  auto produces = [](shared_state& shared, int count) -> task<> {
    for (int i = 0; i < count; ++i) {
      auto held = co_await shared.guards.scoped_lock();
      ++shared.value;
      shared.changed.notify_one();
    }
  };
  auto produced = spawn(pool, produces(state, items));
  std::jthread one(consumes);
  produced.get().wait();
  one.join();
  EXPECT_EQ(taken, items);
  EXPECT_EQ(state.changed.waiting(), 0u);
}

}  // namespace
}  // namespace weir
