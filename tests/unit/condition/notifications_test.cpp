// Where a notification stays when its waiter does not take it, and waiting inside a completion.

#include <chrono>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/condition.hpp>
#include <weir/event.hpp>
#include <weir/mutex.hpp>
#include <weir/run/timers.hpp>

#include <support/foreign.hpp>
#include <support/manual_executor.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using test::foreign;
using test::manual_executor;

class notifications : public testing::Test {
 public:
  foreign logs(int id) { return logs_when_notified(*this, id); }

  template <class Limit>
  foreign waits_for_one(std::optional<std::error_code>& error, Limit limit) {
    return predicate_is_one(*this, error, limit);
  }

  static foreign logs_when_notified(notifications& self, int id) {
    auto held = co_await self.guards.scoped_lock();
    co_await self.changed.wait(held);
    EXPECT_TRUE(held.owns_lock());
    self.log.push_back(id);
    held.unlock();
  }

  template <class Limit>
  static foreign predicate_is_one(notifications& self, std::optional<std::error_code>& error, Limit limit) {
    auto held = co_await self.guards.scoped_lock();
    auto is_one = [&self] { return self.value == 1; };
    auto limited = limit(self.changed.wait(held, is_one));
    const auto outcome = co_await std::move(limited);
    error = outcome.error();
    EXPECT_TRUE(held.owns_lock());
    held.unlock();
  }

  manual_timers clock;
  use_timers by_hand{clock};
  mutex guards;
  condition changed;
  std::vector<int> log;
  int value = 0;
};

constexpr auto within_10_ms = [](auto op) { return std::move(op).within(10ms); };

TEST_F(notifications, of_a_waiter_whose_predicate_was_false_are_used_up_when_it_times_out_and_is_destroyed) {
  std::optional<std::error_code> error;
  auto first = waits_for_one(error, within_10_ms);
  auto second = logs(2);
  changed.notify_one();
  EXPECT_EQ(changed.waiting(), 2u) << "its predicate is false: it waits again";
  ASSERT_TRUE(guards.try_lock());
  clock.advance(11ms);
  EXPECT_EQ(guards.waiting(), 1u) << "it has timed out, and waits for the mutex";
  first.destroy();
  EXPECT_EQ(guards.waiting(), 0u);
  EXPECT_EQ(changed.waiting(), 1u) << "nobody has notified the second";
  guards.unlock();
  EXPECT_TRUE(log.empty());
  EXPECT_FALSE(error);
  EXPECT_FALSE(guards.locked());
  changed.notify_one();
  EXPECT_EQ(log, std::vector{2});
}

TEST_F(notifications, of_a_waiter_whose_predicate_was_false_are_used_up_when_it_is_destroyed_where_it_is_posted) {
  std::optional<std::error_code> error;
  manual_executor executor;
  auto there = [&](auto op) { return std::move(op).within(10ms).resume_on(executor); };
  auto first = waits_for_one(error, there);
  auto second = logs(2);
  changed.notify_one();
  executor.run_all();
  EXPECT_EQ(changed.waiting(), 2u);
  clock.advance(11ms);
  EXPECT_TRUE(guards.locked()) << "timed out, and posted with the mutex";
  first.destroy();
  EXPECT_FALSE(guards.locked());
  EXPECT_TRUE(log.empty());
  EXPECT_EQ(changed.waiting(), 1u);
}

TEST_F(notifications, that_come_too_late_for_the_predicate_end_the_wait_with_its_time_out) {
  std::optional<std::error_code> error;
  auto waits = waits_for_one(error, within_10_ms);
  ASSERT_TRUE(guards.try_lock());
  changed.notify_one();
  clock.advance(11ms);
  EXPECT_FALSE(error);
  guards.unlock();
  EXPECT_EQ(error, errc::timed_out) << "the notification was won, but its predicate is false and its time is over";
  EXPECT_EQ(changed.waiting(), 0u);
}

TEST_F(notifications, that_come_too_late_for_the_predicate_end_the_wait_with_its_stop) {
  std::stop_source stop;
  std::optional<std::error_code> error;
  auto waits = waits_for_one(error, [&](auto op) { return std::move(op).stop_on(stop.get_token()); });
  ASSERT_TRUE(guards.try_lock());
  changed.notify_one();
  stop.request_stop();
  guards.unlock();
  EXPECT_EQ(error, errc::cancelled);
  EXPECT_EQ(changed.waiting(), 0u);
}

TEST_F(notifications, that_come_too_late_for_the_limit_are_success_if_the_predicate_holds) {
  std::optional<std::error_code> error;
  auto waits = waits_for_one(error, within_10_ms);
  ASSERT_TRUE(guards.try_lock());
  changed.notify_one();
  clock.advance(11ms);
  value = 1;
  guards.unlock();
  EXPECT_EQ(error, std::error_code());
}

TEST_F(notifications, are_passed_on_in_order_by_each_that_is_destroyed_while_it_locks_again) {
  auto first = logs(1);
  auto second = logs(2);
  auto third = logs(3);
  ASSERT_TRUE(guards.try_lock());
  changed.notify_one();
  EXPECT_EQ(guards.waiting(), 1u);
  first.destroy();
  EXPECT_EQ(guards.waiting(), 1u);
  EXPECT_EQ(changed.waiting(), 1u);
  second.destroy();
  EXPECT_EQ(guards.waiting(), 1u);
  EXPECT_EQ(changed.waiting(), 0u);
  guards.unlock();
  EXPECT_EQ(log, std::vector{3});
}

TEST_F(notifications, are_passed_on_by_a_waiter_with_a_predicate_too) {
  std::optional<std::error_code> error;
  auto first = waits_for_one(error, within_10_ms);
  auto second = logs(2);
  ASSERT_TRUE(guards.try_lock());
  changed.notify_one();
  first.destroy();
  guards.unlock();
  EXPECT_EQ(log, std::vector{2});
  EXPECT_EQ(clock.fire_expired(), std::nullopt) << "its limit is still armed";
}

TEST_F(notifications, of_two_calls_are_both_passed_on) {
  auto first = logs(1);
  auto second = logs(2);
  auto third = logs(3);
  auto fourth = logs(4);
  ASSERT_TRUE(guards.try_lock());
  changed.notify_one();
  changed.notify_one();
  second.destroy();
  first.destroy();
  EXPECT_EQ(changed.waiting(), 0u);
  guards.unlock();
  EXPECT_EQ(log, (std::vector{3, 4}));
}

TEST_F(notifications, that_were_not_for_one_alone_are_not_passed_on_to_one_that_came_later) {
  const auto ends_all = {+[](condition& waited) { waited.notify_all(); },
                         +[](condition& waited) { waited.cancel_all(); }, +[](condition& waited) { waited.close(); }};
  for (const auto end : ends_all) {
    condition waited;
    manual_executor executor;
    auto posted = [](notifications& self, condition& on, manual_executor& where) -> foreign {
      auto held = co_await self.guards.scoped_lock();
      (void)co_await on.wait(held).as_result().resume_on(where);
      ADD_FAILURE() << "resumed";
    };
    auto late_waiter = [](notifications& self, condition& on) -> foreign {
      auto held = co_await self.guards.scoped_lock();
      if (co_await on.wait(held).as_result()) self.log.push_back(2);
    };
    auto first = posted(*this, waited, executor);
    end(waited);
    EXPECT_TRUE(guards.locked());
    auto late = late_waiter(*this, waited);  // behind it in the line of the mutex
    EXPECT_EQ(guards.waiting(), 1u);
    first.destroy();
    EXPECT_TRUE(log.empty());
    EXPECT_FALSE(guards.locked());
    late.destroy();
  }
}

TEST_F(notifications, are_not_passed_on_by_a_waiter_that_has_timed_out) {
  auto first = [](notifications& self) -> foreign {
    auto held = co_await self.guards.scoped_lock();
    (void)co_await self.changed.wait(held).within(1ms);
    ADD_FAILURE() << "resumed";
  }(*this);
  auto second = logs(2);
  ASSERT_TRUE(guards.try_lock());
  clock.advance(2ms);
  changed.notify_one();
  first.destroy();
  guards.unlock();
  EXPECT_EQ(log, std::vector{2}) << "the second had the notification to itself";
  EXPECT_EQ(changed.waiting(), 0u);
}

TEST_F(notifications, of_a_closed_mutex_end_the_wait_without_the_lock_whatever_the_predicate_says) {
  value = 0;
  std::optional<std::error_code> error;
  bool held_then = true;
  auto waits = [](notifications& self, std::optional<std::error_code>& outcome, bool& holds) -> foreign {
    auto held = co_await self.guards.scoped_lock();
    auto is_one = [&self] { return self.value == 1; };
    outcome = (co_await self.changed.wait(held, is_one).as_result()).error();
    holds = held.owns_lock();
  }(*this, error, held_then);
  ASSERT_TRUE(guards.try_lock());
  changed.notify_one();
  value = 1;
  guards.close();
  EXPECT_EQ(error, errc::closed);
  EXPECT_FALSE(held_then);
  guards.unlock();
}

TEST_F(notifications, G7_reach_a_thread_that_waits_inside_a_callback_from_the_callback_behind_it) {
  event start;
  bool woken = false;
  auto blocks = start.wait().start([&](const result<>&) {
    auto held = guards.scoped_lock().wait();
    changed.wait(held, [&] { return value == 1; }).wait();
    EXPECT_TRUE(held.owns_lock());
    woken = true;
  });
  auto notifies = start.wait().start([&](const result<>&) {
    auto let_in = guards.lock().start([&](const result<>& locked) {
      ASSERT_TRUE(locked);
      EXPECT_FALSE(woken);
      value = 1;
      guards.unlock();
      changed.notify_one();
    });
  });
  start.set();
  EXPECT_TRUE(woken);
  EXPECT_FALSE(guards.locked());
}

TEST_F(notifications, G7_that_do_not_suffice_let_a_thread_inside_a_callback_wait_again) {
  event start;
  int looks = 0;
  bool woken = false;
  auto blocks = start.wait().start([&](const result<>&) {
    auto held = guards.scoped_lock().wait();
    const auto outcome = changed
                             .wait(held,
                                   [&] {
                                     EXPECT_TRUE(guards.locked());
                                     return ++looks == 4;
                                   })
                             .within(1s)
                             .wait();
    EXPECT_TRUE(outcome);
    EXPECT_TRUE(held.owns_lock());
    woken = true;
  });
  std::jthread notifier([&] {
    while (changed.waiting() == 0) std::this_thread::yield();
    for (int i = 0; i < 3; ++i) {
      auto held = guards.scoped_lock().wait();
      while (changed.waiting() == 0) {
        held.unlock();
        std::this_thread::yield();
        held = guards.scoped_lock().wait();
      }
      changed.notify_one();
    }
  });
  start.set();
  EXPECT_TRUE(woken);
  EXPECT_EQ(looks, 4);
}

TEST_F(notifications, G9_a_time_limit_ends_a_wait_inside_a_callback) {
  event start;
  std::optional<std::error_code> error;
  auto blocks = start.wait().start([&](const result<>&) {
    auto held = guards.scoped_lock().wait();
    error = changed.wait(held).within(10ms).wait().error();
    EXPECT_TRUE(held.owns_lock());
  });
  auto time = start.wait().start([&](const result<>&) {
    auto let_in = guards.lock().start([&](const result<>&) {
      EXPECT_FALSE(error);
      guards.unlock();
      clock.advance(11ms);
    });
  });
  start.set();
  EXPECT_EQ(error, errc::timed_out);
}

/// Runs what is posted at once, inside whoever posts it.
struct at_once {
  void post(work& item) noexcept { item.run(); }
  bool retract(work&) noexcept { return false; }
};

TEST_F(notifications, G2_a_stop_requested_by_whom_the_wait_lets_in_ends_it) {
  at_once inside;
  std::stop_source stop;
  std::optional<std::error_code> error;
  auto waits_for_it = [](notifications& self, at_once& where, std::stop_source& stops,
                         std::optional<std::error_code>& outcome) -> foreign {
    auto held = co_await self.guards.scoped_lock();
    auto let_in = self.guards.lock().resume_on(where).start([&](const result<>&) {
      stops.request_stop();  // while the wait is still being started
      EXPECT_FALSE(outcome);
      self.guards.unlock();
    });
    outcome = (co_await self.changed.wait(held).stop_on(stops.get_token())).error();
    EXPECT_TRUE(held.owns_lock());
  };
  auto waits = waits_for_it(*this, inside, stop, error);
  EXPECT_EQ(error, errc::cancelled);
  EXPECT_EQ(changed.waiting(), 0u);
  changed.notify_all();
  waits.destroy();
  EXPECT_FALSE(guards.locked());
}

TEST_F(notifications, G2_a_time_limit_that_passes_while_the_wait_lets_somebody_in_ends_it) {
  at_once inside;
  std::optional<std::error_code> error;
  auto waits_for_it = [](notifications& self, at_once& where, std::optional<std::error_code>& outcome) -> foreign {
    auto held = co_await self.guards.scoped_lock();
    auto let_in = self.guards.lock().resume_on(where).start([&](const result<>&) {
      self.clock.advance(11ms);
      EXPECT_FALSE(outcome);
      self.guards.unlock();
    });
    outcome = (co_await self.changed.wait(held).within(10ms)).error();
    EXPECT_TRUE(held.owns_lock());
  };
  auto waits = waits_for_it(*this, inside, error);
  EXPECT_EQ(error, errc::timed_out);
  EXPECT_EQ(changed.waiting(), 0u);
}

TEST_F(notifications, G4_by_whom_the_wait_lets_in_end_it) {
  at_once inside;
  bool woken = false;
  auto waits_for_it = [](notifications& self, at_once& where, bool& done) -> foreign {
    auto held = co_await self.guards.scoped_lock();
    auto let_in = self.guards.lock().resume_on(where).start([&](const result<>&) {
      self.changed.notify_one();
      EXPECT_FALSE(done);
      self.guards.unlock();
    });
    co_await self.changed.wait(held);
    EXPECT_TRUE(held.owns_lock());
    done = true;
  };
  auto waits = waits_for_it(*this, inside, woken);
  EXPECT_TRUE(woken);
}

/// Timers whose driver comes late: what has expired fires when the test says so.
class late_timers final : public timer_service {
 public:
  late_timers() noexcept : timer_service(start) {}
  core::time_point now() noexcept override { return start + passed; }
  core::duration passed{0};

 private:
  void wake_by(core::time_point) noexcept override {}
  static constexpr core::time_point start{1h};
};

TEST_F(notifications, G9_never_waits_again_once_its_time_has_passed_though_the_timers_are_late) {
  late_timers late;
  use_timers by_late(late);
  std::optional<std::error_code> error;
  auto waits = waits_for_one(error, within_10_ms);
  late.passed = 11ms;
  changed.notify_one();
  EXPECT_EQ(error, errc::timed_out);
  EXPECT_EQ(changed.waiting(), 0u);
  late.fire_expired();
}

TEST_F(notifications, G9_the_earlier_of_within_and_until_ends_the_wait_in_both_orders) {
  for (const bool until_first : {false, true}) {
    for (const bool until_earlier : {false, true}) {
      std::optional<std::error_code> error;
      const auto within = until_earlier ? 20ms : 10ms;
      const auto until = clock.now() + (until_earlier ? 10ms : 20ms);
      std::optional<foreign> waits;
      if (until_first) {
        waits = waits_for_one(error, [&](auto op) { return std::move(op).until(until).within(within); });
      } else {
        waits = waits_for_one(error, [&](auto op) { return std::move(op).within(within).until(until); });
      }
      clock.advance(6ms);
      changed.notify_all();
      clock.advance(4ms - 1ns);
      EXPECT_FALSE(error);
      clock.advance(1ns + core::timer_wheel::resolution);
      EXPECT_EQ(error, errc::timed_out);
      EXPECT_EQ(clock.fire_expired(), std::nullopt);
    }
  }
}

}  // namespace
}  // namespace weir
