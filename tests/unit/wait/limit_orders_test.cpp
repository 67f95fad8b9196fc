// Limits in every order and combination, in every way of waiting: the earliest decides, exactly when its time comes.

#include <atomic>
#include <chrono>
#include <optional>
#include <ostream>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/select.hpp>
#include <weir/spawn.hpp>
#include <weir/task.hpp>
#include <weir/wait/sleep.hpp>

#include <support/foreign.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using core::duration;
using core::time_point;

// The wheel rounds up to its ticks: with these times, whole ticks, there is nothing to round.
constexpr duration ms = core::timer_wheel::resolution * 1000;
constexpr time_point start_of_time = time_point(ms * 1'000'000);

/// What is said of the wait, in this order. `s` is stop_on, `r` is as_result.
enum class order { w, u, wu, uw, swu, wsu, wus, suw, usw, uws, wru };

template <class Op, class Use>
void limited(order said, Op op, duration within, time_point until, const std::stop_token& stop, Use use) {
  switch (said) {
    case order::w:
      return use(std::move(op).within(within));
    case order::u:
      return use(std::move(op).until(until));
    case order::wu:
      return use(std::move(op).within(within).until(until));
    case order::uw:
      return use(std::move(op).until(until).within(within));
    case order::swu:
      return use(std::move(op).stop_on(stop).within(within).until(until));
    case order::wsu:
      return use(std::move(op).within(within).stop_on(stop).until(until));
    case order::wus:
      return use(std::move(op).within(within).until(until).stop_on(stop));
    case order::suw:
      return use(std::move(op).stop_on(stop).until(until).within(within));
    case order::usw:
      return use(std::move(op).until(until).stop_on(stop).within(within));
    case order::uws:
      return use(std::move(op).until(until).within(within).stop_on(stop));
    case order::wru:
      return use(std::move(op).within(within).as_result().until(until));
  }
}

/// An executor without a queue, whose time is not the program's.
class with_own_clock {
 public:
  explicit with_own_clock(manual_timers& clock) noexcept : clock_(&clock) {}
  void post(work& item) noexcept { here_.post(item); }
  bool retract(work& item) noexcept { return here_.retract(item); }
  manual_timers& timers() noexcept { return *clock_; }

 private:
  inline_executor here_;
  manual_timers* clock_;
};

enum class way { foreign, task, task_with_own_clock, callback, thread };

std::ostream& operator<<(std::ostream& out, way waits) {
  static constexpr const char* names[] = {"foreign", "task", "task_with_own_clock", "callback", "thread"};
  return out << names[static_cast<int>(waits)];
}

class one_wait {
 public:
  explicit one_wait(way waits) : way_(waits) {}

  template <class Op>
  void start(Op op) {
    switch (way_) {
      case way::foreign:
        foreign_ = by_coroutine<test::foreign>(std::move(op), *this);
        break;
      case way::task:
        task_ = spawn(here_, by_coroutine<task<>>(std::move(op), *this));
        break;
      case way::task_with_own_clock:
        task_ = spawn(there_, by_coroutine<task<>>(std::move(op), *this));
        break;
      case way::callback:
        ticket_ = std::move(op).start([this](const auto& outcome) { this->end(outcome); });
        break;
      case way::thread:
        thread_ = std::jthread([this, waited = std::move(op)]() mutable { this->end(std::move(waited).wait()); });
        while (!ended() && !clock.fire_expired()) std::this_thread::yield();
    }
  }

  [[nodiscard]] bool ended() const { return ended_.load(std::memory_order_acquire); }

  /// After what must have ended it.
  std::error_code error() {
    if (thread_.joinable()) thread_.join();
    EXPECT_TRUE(ended());
    return error_;
  }

  manual_timers clock{start_of_time};

 private:
  template <class Coroutine, class Op>
  static Coroutine by_coroutine(Op op, one_wait& self) {
    const auto outcome = co_await std::move(op);
    self.end(outcome);
  }

  template <class Outcome>
  void end(const Outcome& outcome) {
    EXPECT_FALSE(ended()) << "it has ended twice";
    error_ = outcome.error();
    ended_.store(true, std::memory_order_release);
  }

  way way_;
  manual_timers nobodys_clock_{start_of_time};
  use_timers by_hand_{way_ == way::task_with_own_clock ? nobodys_clock_ : clock};
  inline_executor here_;
  with_own_clock there_{clock};
  std::atomic<bool> ended_{false};
  std::error_code error_;
  test::foreign foreign_;
  future<> task_;
  ticket ticket_;
  std::jthread thread_;
};

struct times {
  const char* name;
  duration within;
  time_point until;
  std::optional<duration> ends;  // after the start of the wait; zero: at once; nothing: never
};

constexpr time_point at(duration from_start) { return start_of_time + from_start; }

constexpr times all_times[] = {
    {"within_is_earlier", 5 * ms, at(9 * ms), 5 * ms},
    {"until_is_earlier", 9 * ms, at(5 * ms), 5 * ms},
    {"both_at_once", 5 * ms, at(5 * ms), 5 * ms},
    {"within_is_earlier_by_a_tick", 5 * ms, at(5 * ms + core::timer_wheel::resolution), 5 * ms},
    {"until_is_earlier_by_a_tick", 5 * ms, at(5 * ms - core::timer_wheel::resolution),
     5 * ms - core::timer_wheel::resolution},
    {"until_for_ever", 5 * ms, time_point::max(), 5 * ms},
    {"within_for_ever", duration::max(), at(5 * ms), 5 * ms},
    {"both_for_ever", duration::max(), time_point::max(), std::nullopt},
    {"within_longer_than_the_clock_has_left", duration::max() - 1h, at(5 * ms), 5 * ms},
    {"within_zero", 0 * ms, at(9 * ms), 0 * ms},
    {"within_negative", -5 * ms, at(9 * ms), 0 * ms},
    {"until_now", 9 * ms, at(0 * ms), 0 * ms},
    {"until_past", 9 * ms, at(-1ns), 0 * ms},
    {"until_the_beginning", 9 * ms, time_point::min(), 0 * ms},
    {"zero_and_past", 0 * ms, at(-1ns), 0 * ms},
    {"until_the_next_tick", 9 * ms, at(core::timer_wheel::resolution), core::timer_wheel::resolution},
    {"within_a_tick", core::timer_wheel::resolution, at(9 * ms), core::timer_wheel::resolution},
};

constexpr bool says_both(order said) { return said != order::w && said != order::u; }
constexpr bool says_stop(order said) { return said >= order::swu && said <= order::uws; }

class limit_orders : public testing::TestWithParam<way> {
 protected:
  /// The wait must end then, not a nanosecond before, and leave no timer behind.
  static void expect_time_out(one_wait& waits, const times& given, const std::string& what) {
    SCOPED_TRACE(what);
    if (!given.ends) {
      waits.clock.advance(100'000h);
      EXPECT_FALSE(waits.ended());
      return;
    }
    if (*given.ends != duration::zero()) {
      EXPECT_FALSE(waits.ended()) << "it did not wait";
      waits.clock.advance(*given.ends - 1ns);
      EXPECT_FALSE(waits.ended()) << "it has ended early";
      waits.clock.advance(1ns);
    }
    EXPECT_EQ(waits.error(), errc::timed_out);
    EXPECT_EQ(waits.clock.fire_expired(), std::nullopt);
  }

  template <class Describe>
  static void expect_all_time_outs(order said, Describe describe) {
    for (const times& given : all_times) {
      event never;
      std::stop_source stop;
      one_wait waits(GetParam());
      limited(said, describe(never), given.within, given.until, stop.get_token(),
              [&](auto op) { waits.start(std::move(op)); });
      expect_time_out(waits, given, std::string(given.name) + ", order " + std::to_string(static_cast<int>(said)));
      if (!given.ends) never.set();
      EXPECT_EQ(never.waiting(), 0u);
    }
  }
};

TEST_P(limit_orders, G9_the_earlier_of_two_ends_the_wait_whichever_is_said_first) {
  for (const order said :
       {order::wu, order::uw, order::swu, order::wsu, order::wus, order::suw, order::usw, order::uws, order::wru}) {
    expect_all_time_outs(said, [](event& never) { return never.wait(); });
  }
}

TEST_P(limit_orders, G9_one_alone_ends_the_wait_when_its_time_comes) {
  for (const times& given : all_times) {
    for (const order said : {order::w, order::u}) {
      event never;
      one_wait waits(GetParam());
      times expected = given;
      if (said == order::w) {
        expected.ends = given.within <= duration::zero() ? duration::zero() : given.within;
        if (given.within > duration::max() - 2h) expected.ends = std::nullopt;
      } else {
        expected.ends = given.until <= start_of_time ? duration::zero() : given.until - start_of_time;
        if (given.until == time_point::max()) expected.ends = std::nullopt;
      }
      limited(said, never.wait(), given.within, given.until, {}, [&](auto op) { waits.start(std::move(op)); });
      expect_time_out(waits, expected, std::string(given.name) + (said == order::w ? ", within" : ", until"));
      never.set();
    }
  }
}

TEST_P(limit_orders, G9_a_select_ends_like_a_wait) {
  for (const order said : {order::wu, order::uw, order::uws}) {
    expect_all_time_outs(said, [](event& never) { return select(never.wait(), never.wait(), sleep_for(200'000h)); });
  }
}

TEST_P(limit_orders, G9_a_longer_sleep_ends_like_a_wait) {
  for (const order said : {order::wu, order::uw, order::swu}) {
    for (const times& given : all_times) {
      std::stop_source stop;
      one_wait waits(GetParam());
      auto start = [&](auto op) { waits.start(std::move(op)); };
      limited(said, sleep_for(200'000h), given.within, given.until, stop.get_token(), start);
      expect_time_out(waits, given, given.name);
      if (!given.ends) waits.clock.advance(200'000h);
      EXPECT_EQ(waits.error(), given.ends ? make_error_code(errc::timed_out) : std::error_code());
    }
  }
}

TEST_P(limit_orders, G9_a_shorter_sleep_ends_well_and_disarms_its_limits) {
  for (const order said : {order::wu, order::uw, order::wus}) {
    for (const bool until : {false, true}) {
      one_wait waits(GetParam());
      std::stop_source stop;
      auto start = [&](auto op) { waits.start(std::move(op)); };
      if (until) {
        limited(said, sleep_until(at(3 * ms)), 5 * ms, at(9 * ms), stop.get_token(), start);
      } else {
        limited(said, sleep_for(3 * ms), 9 * ms, at(5 * ms), stop.get_token(), start);
      }
      waits.clock.advance(3 * ms - 1ns);
      EXPECT_FALSE(waits.ended());
      waits.clock.advance(1ns);
      EXPECT_EQ(waits.error(), std::error_code());
      EXPECT_EQ(waits.clock.fire_expired(), std::nullopt) << "a limit is still armed";
    }
  }
}

TEST_P(limit_orders, G2_a_stop_before_the_time_cancels_wherever_it_is_said) {
  for (const order said : {order::swu, order::wsu, order::wus, order::suw, order::usw, order::uws}) {
    ASSERT_TRUE(says_stop(said) && says_both(said));
    event never;
    std::stop_source stop;
    one_wait waits(GetParam());
    limited(said, never.wait(), 9 * ms, at(5 * ms), stop.get_token(), [&](auto op) { waits.start(std::move(op)); });
    waits.clock.advance(5 * ms - 1ns);
    EXPECT_FALSE(waits.ended());
    stop.request_stop();
    EXPECT_EQ(waits.error(), errc::cancelled);
    EXPECT_EQ(waits.clock.fire_expired(), std::nullopt) << "a limit is still armed";
    EXPECT_EQ(never.waiting(), 0u);
  }
}

TEST_P(limit_orders, G2_a_stop_after_the_time_comes_too_late) {
  for (const order said : {order::swu, order::wsu, order::uws}) {
    event never;
    std::stop_source stop;
    one_wait waits(GetParam());
    limited(said, never.wait(), 5 * ms, at(9 * ms), stop.get_token(), [&](auto op) { waits.start(std::move(op)); });
    waits.clock.advance(5 * ms);
    stop.request_stop();
    EXPECT_EQ(waits.error(), errc::timed_out);
  }
}

TEST_P(limit_orders, G2_a_stop_requested_before_wins_over_a_time_that_has_passed_and_over_a_grant) {
  for (const order said : {order::swu, order::wsu, order::wus, order::suw, order::usw, order::uws}) {
    for (const bool set : {false, true}) {
      event object(set);
      std::stop_source stop;
      stop.request_stop();
      one_wait waits(GetParam());
      limited(said, object.wait(), 0 * ms, at(-1ns), stop.get_token(), [&](auto op) { waits.start(std::move(op)); });
      EXPECT_EQ(waits.error(), errc::cancelled);
    }
  }
}

TEST_P(limit_orders, G9_what_is_there_is_taken_though_every_time_has_passed) {
  for (const order said : {order::w, order::u, order::wu, order::uw, order::uws}) {
    event open(true);
    one_wait waits(GetParam());
    limited(said, open.wait(), -1ns, time_point::min(), {}, [&](auto op) { waits.start(std::move(op)); });
    EXPECT_EQ(waits.error(), std::error_code());
  }
}

TEST_P(limit_orders, G1_a_grant_disarms_both_limits) {
  for (const order said : {order::wu, order::uw, order::wsu}) {
    event object;
    std::stop_source stop;
    one_wait waits(GetParam());
    limited(said, object.wait(), 5 * ms, at(9 * ms), stop.get_token(), [&](auto op) { waits.start(std::move(op)); });
    waits.clock.advance(5 * ms - 1ns);
    object.set();
    EXPECT_EQ(waits.error(), std::error_code());
    EXPECT_EQ(waits.clock.fire_expired(), std::nullopt) << "a limit is still armed";
  }
}

INSTANTIATE_TEST_SUITE_P(ways, limit_orders,
                         testing::Values(way::foreign, way::task, way::task_with_own_clock, way::callback, way::thread),
                         testing::PrintToStringParamName());

TEST(limit_orders, G9_a_duration_is_counted_from_the_start_of_the_wait_and_not_from_where_it_is_said) {
  manual_timers clock(start_of_time);
  use_timers by_hand(clock);
  event never;
  auto described = never.wait().within(5 * ms).until(at(100 * ms));
  clock.advance(50 * ms);
  std::optional<std::error_code> error;
  auto waits = std::move(described).start([&](const result<>& outcome) { error = outcome.error(); });
  clock.advance(5 * ms - 1ns);
  EXPECT_FALSE(error);
  clock.advance(1ns);
  EXPECT_EQ(error, errc::timed_out);
}

TEST(limit_orders, G9_near_the_end_of_the_clock_a_duration_saturates) {
  constexpr duration left = 1h;
  for (const duration within : {left - 1ns, left, left + 1ns, 2 * left, duration::max()}) {
    manual_timers clock(time_point::max() - left);
    use_timers by_hand(clock);
    event object;
    std::optional<std::error_code> error;
    auto alone = object.wait().within(within).start([](const result<>& outcome) { EXPECT_TRUE(outcome); });
    auto waits = object.wait().within(within).until(time_point::max()).start([&](const result<>& outcome) {
      error = outcome.error();
    });
    clock.advance(30min);
    EXPECT_FALSE(error);
    object.set();
    EXPECT_EQ(error, std::error_code());
    EXPECT_TRUE(alone.done());
  }
}

/// Timers whose driver comes late.
class late_timers final : public timer_service {
 public:
  late_timers() noexcept : timer_service(start_of_time) {}
  core::time_point now() noexcept override { return start_of_time; }

 private:
  void wake_by(core::time_point) noexcept override {}
};

TEST(limit_orders, G9_a_time_that_has_passed_never_waits_though_the_timers_are_late) {
  late_timers late;
  use_timers by_late(late);
  for (const times& given : all_times) {
    if (given.ends != duration::zero()) continue;
    for (const order said : {order::wu, order::uw, order::wru}) {
      event never;
      std::optional<std::error_code> error;
      ticket waits;
      limited(said, never.wait(), given.within, given.until, {},
              [&](auto op) { waits = std::move(op).start([&](const result<>& outcome) { error = outcome.error(); }); });
      EXPECT_EQ(error, errc::timed_out) << given.name;
      EXPECT_EQ(never.waiting(), 0u) << given.name;
      EXPECT_TRUE(sleep_for(given.within <= duration::zero() ? given.within : 0 * ms).within(0s).wait());
    }
  }
}

TEST(limit_orders, a_moved_operation_keeps_its_limits) {
  manual_timers clock(start_of_time);
  use_timers by_hand(clock);
  event never;
  std::stop_source stop;
  std::optional<std::error_code> error;
  auto described = never.wait().until(at(5 * ms)).within(9 * ms).stop_on(stop.get_token());
  auto moved = std::move(described);
  auto waits = std::move(moved).start([&](const result<>& outcome) { error = outcome.error(); });
  clock.advance(5 * ms);
  EXPECT_EQ(error, errc::timed_out);

  error.reset();
  auto again = never.wait().within(9 * ms).stop_on(stop.get_token()).until(at(20 * ms));
  auto once = std::move(again);
  auto twice = std::move(once);
  auto stopped = std::move(twice).start([&](const result<>& outcome) { error = outcome.error(); });
  stop.request_stop();
  EXPECT_EQ(error, errc::cancelled);
}

}  // namespace
}  // namespace weir
