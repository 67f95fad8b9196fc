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

namespace weir {
namespace {

using namespace std::chrono_literals;
using test::foreign;
using test::manual_executor;

struct shared_state {
  mutex guards;
  condition changed;
  std::vector<int> log;
  int value = 0;
};

foreign logs_when_notified(shared_state& state, int id) {
  auto held = co_await state.guards.scoped_lock();
  co_await state.changed.wait(held);
  EXPECT_TRUE(held.owns_lock());
  state.log.push_back(id);
}

template <class Limit>
foreign keeps_its_outcome(shared_state& state, std::optional<std::error_code>& error, Limit limit) {
  auto held = co_await state.guards.scoped_lock();
  const auto outcome = co_await limit(state.changed.wait(held));
  error = outcome.error();
  EXPECT_TRUE(held.owns_lock()) << "the mutex is held again whenever the wait completes";
}

template <class Limit>
foreign waits_for_one(shared_state& state, std::optional<std::error_code>& error, Limit limit) {
  auto held = co_await state.guards.scoped_lock();
  auto is_one = [&state] { return state.value == 1; };
  const auto outcome = co_await limit(state.changed.wait(held, is_one));
  error = outcome.error();
  EXPECT_TRUE(held.owns_lock());
}

class condition_with_clock : public testing::Test {
 protected:
  manual_timers clock;
  use_timers by_hand{clock};
  shared_state state;
  std::optional<std::error_code> error;
};

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
  try {
    (void)changed.wait(nothing);
    FAIL() << "it did not throw";
  } catch (const std::system_error& thrown) {
    EXPECT_EQ(thrown.code(), errc::not_owner);
    EXPECT_NE(std::string(thrown.what()).find("weir::condition::wait"), std::string::npos);
  }
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

TEST_F(condition_with_clock, G11_closing_the_condition_ends_every_wait_with_the_mutex_held) {
  auto waits = keeps_its_outcome(state, error, [](auto&& op) { return std::move(op).as_result(); });
  state.changed.close();
  EXPECT_EQ(error, errc::closed);
  error.reset();
  auto later = keeps_its_outcome(state, error, [](auto&& op) { return std::move(op).as_result(); });
  EXPECT_EQ(error, errc::closed);
}

TEST_F(condition_with_clock, G11_destroying_the_condition_ends_every_wait_with_the_mutex_held) {
  std::optional<condition> changed(std::in_place);
  auto waits_for_it = [](mutex& guards, condition& on, std::optional<std::error_code>& outcome) -> foreign {
    auto held = co_await guards.scoped_lock();
    outcome = (co_await on.wait(held).within(1h)).error();
    EXPECT_TRUE(held.owns_lock());
  };
  auto waits = waits_for_it(state.guards, *changed, error);
  ASSERT_TRUE(state.guards.try_lock());
  changed.reset();
  EXPECT_FALSE(error);
  state.guards.unlock();
  EXPECT_EQ(error, errc::closed);
}

TEST_F(condition_with_clock, G11_cancel_all_ends_every_wait_with_the_mutex_held) {
  auto waits = keeps_its_outcome(state, error, [](auto&& op) { return std::move(op).as_result(); });
  EXPECT_EQ(state.changed.cancel_all(), 1u);
  EXPECT_EQ(error, errc::cancelled);
}

TEST(condition, G11_if_the_mutex_is_closed_meanwhile_the_guard_is_empty) {
  shared_state state;
  std::optional<std::error_code> error;
  bool held_then = true;
  auto waits_for_it = [](shared_state& shared, std::optional<std::error_code>& outcome, bool& holds) -> foreign {
    auto held = co_await shared.guards.scoped_lock();
    auto never = [] { return false; };
    outcome = (co_await shared.changed.wait(held, never).as_result()).error();
    holds = held.owns_lock();
  };
  auto waits = waits_for_it(state, error, held_then);
  state.guards.close();
  EXPECT_FALSE(error) << "it waits for a notification, not for the mutex";
  state.changed.notify_one();
  EXPECT_EQ(error, errc::closed);
  EXPECT_FALSE(held_then);
}

TEST(condition, G6_a_waiter_may_destroy_the_condition_and_the_mutex) {
  std::optional<shared_state> state(std::in_place);
  auto destroys = [](std::optional<shared_state>& shared) -> foreign {
    auto held = co_await shared->guards.scoped_lock();
    co_await shared->changed.wait(held);
    held.unlock();
    shared.reset();
  };
  auto waits = destroys(state);
  state->changed.notify_one();
  EXPECT_FALSE(state);
}

TEST(condition, destroying_a_waiting_coroutine_withdraws_it) {
  shared_state state;
  auto first = logs_when_notified(state, 1);
  auto second = logs_when_notified(state, 2);
  first.destroy();
  EXPECT_EQ(state.changed.waiting(), 1u);
  EXPECT_FALSE(state.guards.locked());
  state.changed.notify_one();
  EXPECT_EQ(state.log, std::vector{2});
}

TEST(condition, G2_a_notified_coroutine_destroyed_before_it_has_the_mutex_passes_the_notification_on) {
  shared_state state;
  auto first = logs_when_notified(state, 1);
  auto second = logs_when_notified(state, 2);
  ASSERT_TRUE(state.guards.try_lock());
  state.changed.notify_one();
  first.destroy();
  EXPECT_EQ(state.changed.waiting(), 0u) << "the second is notified instead";
  state.guards.unlock();
  EXPECT_EQ(state.log, std::vector{2});
  EXPECT_FALSE(state.guards.locked());
}

TEST(condition, G2_a_notified_coroutine_destroyed_before_it_is_resumed_gives_the_mutex_back) {
  shared_state state;
  manual_executor executor;
  auto waits_there = [](shared_state& shared, manual_executor& where) -> foreign {
    auto held = co_await shared.guards.scoped_lock();
    co_await shared.changed.wait(held).resume_on(where);
    ADD_FAILURE() << "resumed";
  };
  auto first = waits_there(state, executor);
  auto second = logs_when_notified(state, 2);
  state.changed.notify_one();
  EXPECT_TRUE(state.guards.locked());
  first.destroy();
  EXPECT_EQ(state.log, std::vector{2});
  EXPECT_FALSE(state.guards.locked());
  EXPECT_TRUE(executor.empty());
}

TEST_F(condition_with_clock, G2_a_timed_out_coroutine_destroyed_before_it_is_resumed_gives_the_mutex_back) {
  manual_executor executor;
  auto waits_there = [](shared_state& shared, manual_executor& where) -> foreign {
    auto held = co_await shared.guards.scoped_lock();
    (void)co_await shared.changed.wait(held).within(1ms).resume_on(where);
    ADD_FAILURE() << "resumed";
  };
  auto waits = waits_there(state, executor);
  clock.advance(2ms);
  EXPECT_TRUE(state.guards.locked());
  waits.destroy();
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

/// What a waiter found whose condition was destroyed while it locked its mutex again.
struct late_waiter {
  mutex guards;
  std::optional<condition> changed{std::in_place};
  bool predicate = false;
  std::optional<std::error_code> error;
  bool held_at_end = false;
};

foreign waits_for_the_predicate(late_waiter& state) {
  auto held = co_await state.guards.scoped_lock();
  const auto outcome = co_await state.changed->wait(held, [&state] { return state.predicate; }).as_result();
  state.error = outcome.error();
  state.held_at_end = held.owns_lock();
}

foreign waits_for_a_notification(late_waiter& state) {
  auto held = co_await state.guards.scoped_lock();
  const auto outcome = co_await state.changed->wait(held).as_result();
  state.error = outcome.error();
  state.held_at_end = held.owns_lock();
}

/// Notifies, and destroys the condition before the waiter has its mutex.
void destroy_while_it_locks(late_waiter& state, bool by_notify_all) {
  ASSERT_TRUE(state.guards.try_lock());
  by_notify_all ? state.changed->notify_all() : state.changed->notify_one();
  state.changed.reset();
  EXPECT_FALSE(state.error.has_value());
}

TEST(condition, G11_destroyed_while_a_notified_waiter_locks_its_mutex_gives_closed_if_the_predicate_does_not_hold) {
  for (const bool by_notify_all : {false, true}) {
    late_waiter state;
    const auto waits = waits_for_the_predicate(state);
    destroy_while_it_locks(state, by_notify_all);
    state.guards.unlock();
    EXPECT_EQ(state.error, make_error_code(errc::closed));
    EXPECT_TRUE(state.held_at_end);
  }
}

TEST(condition, destroyed_while_a_notified_waiter_locks_its_mutex_changes_nothing_for_one_that_need_not_wait_again) {
  late_waiter state;
  const auto waits = waits_for_the_predicate(state);
  destroy_while_it_locks(state, false);
  state.predicate = true;
  state.guards.unlock();
  EXPECT_EQ(state.error, std::error_code());

  late_waiter plain;
  const auto waits_once = waits_for_a_notification(plain);
  destroy_while_it_locks(plain, false);
  plain.guards.unlock();
  EXPECT_EQ(plain.error, std::error_code());
}

TEST(condition, G13_a_notified_waiter_may_be_destroyed_after_its_condition) {
  for (const bool by_notify_all : {false, true}) {
    late_waiter state;
    auto waits = waits_for_a_notification(state);
    destroy_while_it_locks(state, by_notify_all);
    waits.destroy();
    EXPECT_EQ(state.guards.waiting(), 0u);
    state.guards.unlock();
  }
}

TEST(condition, may_be_destroyed_by_its_waiter_that_holds_an_operation_of_it) {
  late_waiter state;
  const auto destroys = [](late_waiter& shared) -> foreign {
    auto held = co_await shared.guards.scoped_lock();
    auto waits = shared.changed->wait(held);
    co_await std::move(waits);
    shared.changed.reset();
    shared.held_at_end = true;
  };
  const auto waits = destroys(state);
  state.changed->notify_one();
  EXPECT_TRUE(state.held_at_end);
}

TEST(condition, a_notified_waiter_locks_its_mutex_again_whoever_cancels_those_that_wait_for_that) {
  late_waiter state;
  const auto waits = waits_for_a_notification(state);
  ASSERT_TRUE(state.guards.try_lock());
  state.changed->notify_one();
  EXPECT_EQ(state.guards.cancel_all(), 1u);
  EXPECT_FALSE(state.error.has_value());
  EXPECT_EQ(state.guards.waiting(), 1u);
  state.guards.unlock();
  EXPECT_EQ(state.error, std::error_code());
  EXPECT_TRUE(state.held_at_end);
}

TEST(condition, a_notified_waiter_whose_mutex_code_on_its_own_thread_has_locked_waits_for_it) {
  mutex guards;
  condition changed;
  event unlock;
  std::optional<mutex::guard> by_callback;
  auto held = guards.scoped_lock().wait();
  // Unlocking lets this callback through, on the thread that waits: it locks again, notifies, and keeps the lock.
  auto callback = guards.lock().start([&](const result<>&) {
    guards.unlock();
    by_callback.emplace(guards.scoped_lock().wait());
    changed.notify_one();
    unlock.set();
  });
  std::jthread unlocks([&] {
    unlock.wait().wait();
    while (guards.waiting() == 0) std::this_thread::yield();
    by_callback->unlock();
  });
  EXPECT_TRUE(changed.wait(held).as_result().wait());
  EXPECT_TRUE(held.owns_lock());
}

TEST(condition, a_notification_of_one_whose_mutex_was_closed_goes_to_the_next) {
  mutex first_mutex;
  late_waiter second;
  std::error_code first_error;
  const auto waits_first = [](mutex& guards, condition& changed, std::error_code& error) -> foreign {
    auto held = co_await guards.scoped_lock();
    const auto outcome = co_await changed.wait(held).as_result();
    error = outcome.error();
  };
  const auto first = waits_first(first_mutex, *second.changed, first_error);
  const auto waits = waits_for_a_notification(second);
  ASSERT_TRUE(first_mutex.try_lock());
  second.changed->notify_one();
  first_mutex.close();
  EXPECT_EQ(first_error, errc::closed);
  EXPECT_EQ(second.error, std::error_code()) << "the notification was lost";
  first_mutex.unlock();
}

}  // namespace
}  // namespace weir
