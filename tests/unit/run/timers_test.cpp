#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/core/timer.hpp>
#include <weir/run/timers.hpp>

namespace {

using namespace std::chrono_literals;
using weir::core::duration;
using weir::core::time_point;

constexpr duration tick = 1'024ns;
constexpr time_point start(1h);

/// Counts, and does what it is told when it fires.
struct probe : weir::core::timer {
  explicit probe(std::function<void()> at_fire = [] {}) : then(std::move(at_fire)) {
    claim = [](weir::core::timer& self) noexcept {
      ++static_cast<probe&>(self).claimed;
      return static_cast<probe&>(self).wins ? fire_function(fire) : nullptr;
    };
  }
  static void fire(weir::core::timer& self) noexcept {
    ++static_cast<probe&>(self).fired;
    static_cast<probe&>(self).then();
  }
  std::function<void()> then;
  bool wins = true;
  int claimed = 0;
  int fired = 0;
};

/// A driver that only writes down when it was asked to come.
class driver final : public weir::timer_service {
 public:
  driver() : timer_service(start) {}
  time_point now() noexcept override { return time; }
  time_point time = start;
  std::vector<time_point> woken_for;

 private:
  void wake_by(time_point next) noexcept override { woken_for.push_back(next); }
};

TEST(manual_timers, time_stands_still_until_it_is_moved) {
  weir::manual_timers timers(start);
  EXPECT_EQ(timers.now(), start);
  timers.advance(5ms);
  EXPECT_EQ(timers.now(), start + 5ms);
  timers.advance(1ns);
  EXPECT_EQ(timers.now(), start + 5ms + 1ns);
}

TEST(manual_timers, G9_fires_once_and_not_before_the_deadline) {
  weir::manual_timers timers(start);
  probe one;
  timers.arm(one, start + 10ms);
  timers.advance(10ms - 1ns);
  EXPECT_EQ(one.claimed, 0);
  timers.advance(1ns + tick);
  EXPECT_EQ(one.fired, 1);
  timers.advance(1h);
  EXPECT_EQ(one.claimed, 1);
  EXPECT_EQ(one.fired, 1);
}

TEST(manual_timers, one_whose_claim_is_lost_does_not_fire_and_is_armed_no_more) {
  weir::manual_timers timers(start);
  probe loser;
  probe behind;
  loser.wins = false;
  timers.arm(loser, start + 1ms);
  timers.arm(behind, start + 2ms);
  timers.advance(5ms);
  EXPECT_EQ(loser.claimed, 1);
  EXPECT_EQ(loser.fired, 0);
  EXPECT_EQ(behind.fired, 1);
  EXPECT_FALSE(timers.disarm(loser));
  timers.advance(1h);
  EXPECT_EQ(loser.claimed, 1);
}

TEST(manual_timers, disarming_says_whether_it_was_armed) {
  weir::manual_timers timers(start);
  probe one;
  EXPECT_FALSE(timers.disarm(one));
  timers.arm(one, start + 1ms);
  EXPECT_TRUE(timers.disarm(one));
  EXPECT_FALSE(timers.disarm(one));
  timers.advance(5ms);
  EXPECT_EQ(one.claimed, 0);
}

TEST(manual_timers, one_that_fires_may_disarm_another_and_is_itself_armed_no_more) {
  weir::manual_timers timers(start);
  probe second;
  probe first;
  bool second_was_armed = false;
  bool first_was_armed = true;
  first.then = [&] {
    second_was_armed = timers.disarm(second);
    first_was_armed = timers.disarm(first);
  };
  timers.arm(first, start + 1ms);
  timers.arm(second, start + 2ms);
  timers.advance(5ms);
  EXPECT_TRUE(second_was_armed);
  EXPECT_FALSE(first_was_armed);
  EXPECT_EQ(second.claimed, 0);
}

TEST(manual_timers, one_that_fires_may_arm_itself_and_others) {
  weir::manual_timers timers(start);
  probe overdue;
  probe periodic;
  periodic.then = [&] {
    timers.arm(periodic, timers.now() + 1ms);
    if (periodic.fired == 1) timers.arm(overdue, timers.now() - 1ms);
  };
  timers.arm(periodic, start + 1ms);
  timers.advance(1ms + tick);
  EXPECT_EQ(periodic.fired, 1);
  EXPECT_EQ(overdue.fired, 1);
  timers.advance(1ms + tick);
  EXPECT_EQ(periodic.fired, 2);
  EXPECT_TRUE(timers.disarm(periodic));
}

TEST(manual_timers, an_expiry_leaves_those_armed_for_later) {
  weir::manual_timers timers(start);
  probe soon;
  probe later;
  timers.arm(later, start + 1min);
  timers.arm(soon, start + 1ms);
  timers.advance(2ms);
  EXPECT_EQ(soon.fired, 1);
  EXPECT_EQ(later.fired, 0);
  timers.advance(1min);
  EXPECT_EQ(later.fired, 1);
}

TEST(manual_timers, one_that_fires_may_go_away) {
  struct short_lived : weir::core::timer {
    explicit short_lived(int& count) : fired(count) {
      claim = [](weir::core::timer&) noexcept { return fire_function(fire); };
    }
    static void fire(weir::core::timer& self) noexcept {
      ++static_cast<short_lived&>(self).fired;
      delete &static_cast<short_lived&>(self);
    }
    int& fired;
  };
  weir::manual_timers timers(start);
  int fired = 0;
  for (int i = 0; i < 3; ++i) timers.arm(*new short_lived(fired), start + 1ms);
  timers.advance(2ms);
  EXPECT_EQ(fired, 3);
}

TEST(timer_service, the_first_to_be_armed_wakes_the_driver_in_time) {
  driver timers;
  probe one;
  timers.arm(one, start + 10ms);
  ASSERT_EQ(timers.woken_for.size(), 1U);
  EXPECT_LE(timers.woken_for[0], start + 10ms + tick);
  EXPECT_GT(timers.woken_for[0], start);
  timers.disarm(one);
}

TEST(timer_service, only_what_is_due_sooner_than_the_driver_will_come_wakes_it) {
  driver timers;
  std::array<probe, 3> probes;
  timers.arm(probes[0], start + 1s);
  ASSERT_EQ(timers.woken_for.size(), 1U);
  timers.arm(probes[1], start + 1h);
  EXPECT_EQ(timers.woken_for.size(), 1U);
  timers.arm(probes[2], start + 1ms);
  ASSERT_EQ(timers.woken_for.size(), 2U);
  EXPECT_LE(timers.woken_for[1], start + 1ms + tick);
  for (auto& each : probes) EXPECT_TRUE(timers.disarm(each));
}

TEST(timer_service, firing_says_when_to_come_next_and_later_arming_before_that_wakes) {
  driver timers;
  probe first;
  probe second;
  probe third;
  timers.arm(first, start + 1ms);
  timers.arm(second, start + 1s);
  timers.time = start + 2ms;
  const auto next = timers.fire_expired();
  EXPECT_EQ(first.fired, 1);
  ASSERT_TRUE(next);
  EXPECT_GT(*next, timers.time);
  EXPECT_LE(*next, start + 1s + tick);

  const auto woken = timers.woken_for.size();
  timers.arm(third, *next + 1min);
  EXPECT_EQ(timers.woken_for.size(), woken);
  timers.disarm(third);
  timers.arm(third, timers.time + 10us);
  ASSERT_EQ(timers.woken_for.size(), woken + 1);
  EXPECT_LE(timers.woken_for.back(), timers.time + 10us + tick);
  timers.disarm(second);
  timers.disarm(third);
}

TEST(timer_service, with_nothing_armed_the_driver_need_not_come_until_something_is) {
  driver timers;
  EXPECT_EQ(timers.fire_expired(), std::nullopt);
  probe one;
  timers.arm(one, start + 1ms);
  timers.disarm(one);
  timers.time = start + 1s;
  EXPECT_EQ(timers.fire_expired(), std::nullopt);
  EXPECT_EQ(one.claimed, 0);

  timers.woken_for.clear();
  timers.arm(one, start + 1h);
  EXPECT_EQ(timers.woken_for.size(), 1U);
  timers.disarm(one);
}

TEST(timer_service, a_driver_that_comes_when_it_was_told_fires_all_in_time) {
  driver timers;
  std::array<probe, 5> probes;
  std::array<time_point, 5> fired_at{};
  const std::array<duration, 5> spans = {3us, 700us, 80ms, 9s, 24h};
  for (std::size_t i = 0; i < probes.size(); ++i) {
    probes[i].then = [&, i] { fired_at[i] = timers.time; };
    timers.arm(probes[i], start + spans[i]);
  }
  int looks = 0;
  while (const auto next = timers.fire_expired()) {
    ASSERT_LT(++looks, 50);
    timers.time = *next;
  }
  for (std::size_t i = 0; i < probes.size(); ++i) {
    EXPECT_EQ(probes[i].fired, 1);
    EXPECT_GE(fired_at[i], start + spans[i]);
    EXPECT_LE(fired_at[i], start + spans[i] + tick);
  }
}

TEST(timer_service, a_limit_at_the_end_of_time_does_not_keep_the_driver_busy) {
  driver timers;
  probe one;
  timers.arm(one, time_point::max());
  const auto next = timers.fire_expired();
  ASSERT_TRUE(next);
  EXPECT_GT(*next, start + 24h * 365);
  timers.disarm(one);
}

TEST(timer_service, G1_arming_and_disarming_on_many_threads_while_time_goes_on_ends_each_exactly_once) {
  struct raced : weir::core::timer {
    raced() {
      claim = [](weir::core::timer&) noexcept { return fire_function(fire); };
    }
    static void fire(weir::core::timer& self) noexcept { static_cast<raced&>(self).fired.store(true); }
    std::atomic<bool> fired{false};
  };
  weir::manual_timers timers(start);
  std::atomic<int> busy{3};
  std::atomic<int> both{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        raced one;
        timers.arm(one, timers.now() + (1 + (i + t) % 40) * 100us);
        if (i % 4 == 0) std::this_thread::yield();
        if (timers.disarm(one)) {
          if (one.fired.load()) ++both;
        } else {
          while (!one.fired.load()) std::this_thread::yield();
        }
      }
      --busy;
    });
  }
  while (busy.load() != 0) timers.advance(50us);
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(both.load(), 0);
  EXPECT_EQ(timers.fire_expired(), std::nullopt);
}

TEST(use_timers, replaces_the_programs_timers_while_it_lives) {
  weir::manual_timers outer(start);
  weir::manual_timers inner(start);
  {
    weir::use_timers use_outer(outer);
    EXPECT_EQ(&weir::timers(), &outer);
    {
      weir::use_timers use_inner(inner);
      EXPECT_EQ(&weir::timers(), &inner);
    }
    EXPECT_EQ(&weir::timers(), &outer);
  }
  EXPECT_EQ(&weir::timers(), &weir::timer_thread::instance());
}

}  // namespace
