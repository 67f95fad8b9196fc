// Closing and destroying: the condition, its mutex, and the coroutines that wait.

#include <chrono>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/condition.hpp>
#include <weir/event.hpp>
#include <weir/mutex.hpp>

#include <support/foreign.hpp>
#include <support/manual_executor.hpp>
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

/// What a waiter found whose condition was destroyed while it locked its mutex again.
struct late_waiter {
  mutex guards;
  // On the heap, where AddressSanitizer finds an access after its end.
  std::unique_ptr<condition> changed = std::make_unique<condition>();
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
