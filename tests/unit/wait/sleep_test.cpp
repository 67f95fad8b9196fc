#include <chrono>
#include <coroutine>
#include <optional>
#include <ratio>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/core/context.hpp>
#include <weir/run/task.hpp>
#include <weir/run/timers.hpp>
#include <weir/spawn.hpp>
#include <weir/wait/sleep.hpp>

#include <support/foreign.hpp>
#include <support/manual_executor.hpp>
#include <support/started.hpp>

namespace {

using namespace std::chrono_literals;
using weir::errc;
using weir::task;
using weir::core::duration;
using weir::core::time_point;
using weir::test::foreign;
using weir::test::manual_executor;
using weir::test::started;

constexpr duration tick = 1'024ns;

void let_pass(manual_executor& executor, duration by) {
  executor.timers().advance(by);
  executor.run_all();
}

task<> sleeps_for(duration span) { co_await weir::sleep_for(span); }
task<> sleeps_until(time_point when) { co_await weir::sleep_until(when); }

task<> notes_after(std::string& order, char name, duration span) {
  co_await weir::sleep_for(span);
  order += name;
}

TEST(sleep, G9_ends_not_before_its_time_and_within_a_tick_of_it) {
  for (const duration span : {duration(1ns), duration(1us), duration(10ms), duration(1h), duration(24h * 400)}) {
    manual_executor executor;
    started sleeper(executor, sleeps_for(span));
    let_pass(executor, span - 1ns);
    EXPECT_FALSE(sleeper.has_ended()) << span.count();
    let_pass(executor, 1ns + tick);
    EXPECT_TRUE(sleeper.has_ended()) << span.count();
  }
}

TEST(sleep, until_ends_not_before_that_time) {
  manual_executor executor;
  started sleeper(executor, sleeps_until(executor.timers().now() + 5ms));
  let_pass(executor, 5ms - 1ns);
  EXPECT_FALSE(sleeper.has_ended());
  let_pass(executor, 1ns + tick);
  EXPECT_TRUE(sleeper.has_ended());
}

TEST(sleep, G9_of_zero_or_less_does_not_wait_at_all) {
  manual_executor executor;
  for (const duration none : {0ns, -1ns, duration(-1h), duration::min()}) {
    started sleeper(executor, sleeps_for(none));
    EXPECT_TRUE(sleeper.has_ended()) << none.count();
  }
  EXPECT_EQ(executor.timers().fire_expired(), std::nullopt);
}

TEST(sleep, until_now_or_earlier_does_not_wait_at_all) {
  manual_executor executor;
  for (const duration ago : {duration(0ns), duration(1ns), duration(1h)}) {
    started sleeper(executor, sleeps_until(executor.timers().now() - ago));
    EXPECT_TRUE(sleeper.has_ended());
  }
}

TEST(sleep, is_counted_from_the_start_of_the_wait) {
  manual_executor executor;
  auto lazy = sleeps_for(10ms);
  let_pass(executor, 1h);
  started sleeper(executor, std::move(lazy));
  let_pass(executor, 9ms);
  EXPECT_FALSE(sleeper.has_ended());
  let_pass(executor, 1ms + tick);
  EXPECT_TRUE(sleeper.has_ended());
}

TEST(sleep, takes_any_duration_rounded_up_and_saturated) {
  using picoseconds = std::chrono::duration<long long, std::pico>;
  weir::manual_timers timers;
  weir::use_timers use(timers);
  int done = 0;
  const auto counts = [&done](weir::result<>) { ++done; };
  auto tiny = weir::sleep_for(picoseconds(1)).start(counts);
  auto fraction = weir::sleep_for(std::chrono::duration<double>(0.001)).start(counts);
  auto huge = weir::sleep_for(std::chrono::hours::max()).start(counts);
  auto forever = weir::sleep_until(time_point::max()).start(counts);
  EXPECT_EQ(done, 0);
  timers.advance(1ns + tick);
  EXPECT_EQ(done, 1);
  timers.advance(1ms);
  EXPECT_EQ(done, 2);
  timers.advance(24h * 365 * 100);
  EXPECT_EQ(done, 2);
  EXPECT_TRUE(huge.cancel());
  EXPECT_TRUE(forever.cancel());
}

TEST(sleep, sleepers_wake_in_the_order_of_their_times) {
  std::string order;
  manual_executor executor;
  started c(executor, notes_after(order, 'c', 3ms));
  started a(executor, notes_after(order, 'a', 1ms));
  started d(executor, notes_after(order, 'd', 1h));
  started b(executor, notes_after(order, 'b', 2ms));
  let_pass(executor, 2h);
  EXPECT_EQ(order, "abcd");
}

task<> sleeps_repeatedly(int& slept) {
  for (;;) {
    co_await weir::sleep_for(1ms);
    ++slept;
  }
}

TEST(sleep, can_be_repeated) {
  manual_executor executor;
  int slept = 0;
  started sleeper(executor, sleeps_repeatedly(slept));
  for (int i = 1; i <= 100; ++i) {
    let_pass(executor, 1ms + tick);
    EXPECT_EQ(slept, i);
  }
}

task<> notes_result(weir::result<>& got, duration span, std::stop_token stop) {
  got = co_await weir::sleep_for(span).stop_on(std::move(stop));
}

TEST(sleep, G9_a_stop_ends_it_early_with_cancelled) {
  manual_executor executor;
  std::stop_source stop;
  weir::result<> got = errc::failed;
  started sleeper(executor, notes_result(got, 1h, stop.get_token()));
  EXPECT_FALSE(sleeper.has_ended());
  stop.request_stop();
  executor.run_all();
  EXPECT_TRUE(sleeper.has_ended());
  EXPECT_EQ(got.error(), errc::cancelled);
  EXPECT_EQ(executor.timers().fire_expired(), std::nullopt);
}

TEST(sleep, a_stop_requested_before_never_waits_and_wins_over_a_sleep_of_zero) {
  manual_executor executor;
  std::stop_source stop;
  stop.request_stop();
  for (const duration span : {duration(1h), duration(0ns)}) {
    weir::result<> got = errc::failed;
    started sleeper(executor, notes_result(got, span, stop.get_token()));
    EXPECT_TRUE(sleeper.has_ended());
    EXPECT_EQ(got.error(), errc::cancelled);
  }
}

TEST(sleep, G1_a_stop_requested_after_its_time_comes_too_late) {
  manual_executor executor;
  std::stop_source stop;
  weir::result<> got = errc::failed;
  started sleeper(executor, notes_result(got, 1ms, stop.get_token()));
  executor.timers().advance(2ms);
  stop.request_stop();
  executor.run_all();
  EXPECT_TRUE(got.has_value());
}

task<> notes_limited(weir::result<>& got, duration span, duration limit) {
  got = co_await weir::sleep_for(span).within(limit);
}

TEST(sleep, within_a_shorter_time_is_timed_out) {
  manual_executor executor;
  weir::result<> got = errc::failed;
  started sleeper(executor, notes_limited(got, 1h, 1ms));
  let_pass(executor, 1ms - 1ns);
  EXPECT_FALSE(sleeper.has_ended());
  let_pass(executor, 1ns + tick);
  EXPECT_TRUE(sleeper.has_ended());
  EXPECT_EQ(got.error(), errc::timed_out);
  EXPECT_EQ(executor.timers().fire_expired(), std::nullopt);
}

TEST(sleep, within_a_longer_time_ends_as_ever) {
  manual_executor executor;
  weir::result<> got = errc::failed;
  started sleeper(executor, notes_limited(got, 1ms, 1h));
  let_pass(executor, 2ms);
  EXPECT_TRUE(sleeper.has_ended());
  EXPECT_TRUE(got.has_value());
  EXPECT_EQ(executor.timers().fire_expired(), std::nullopt);
}

TEST(sleep, G9_within_zero_never_waits) {
  manual_executor executor;
  weir::result<> got = errc::failed;
  started times_out(executor, notes_limited(got, 1h, 0ns));
  EXPECT_TRUE(times_out.has_ended());
  EXPECT_EQ(got.error(), errc::timed_out);
  started succeeds(executor, notes_limited(got, 0ns, 0ns));
  EXPECT_TRUE(succeeds.has_ended());
  EXPECT_TRUE(got.has_value());
}

TEST(sleep, destroying_a_sleeping_coroutine_disarms_it) {
  manual_executor executor;
  started sleeper(executor, sleeps_for(1ms));
  sleeper.destroy();
  EXPECT_EQ(executor.timers().fire_expired(), std::nullopt);
  let_pass(executor, 1h);
  EXPECT_FALSE(sleeper.has_ended());
}

TEST(sleep, destroying_a_coroutine_whose_time_has_come_but_that_has_not_gone_on_takes_it_off_its_executor) {
  manual_executor executor;
  started sleeper(executor, sleeps_for(1ms));
  executor.timers().advance(2ms);
  EXPECT_FALSE(executor.empty());
  sleeper.destroy();
  EXPECT_TRUE(executor.empty());
  EXPECT_FALSE(sleeper.has_ended());
}

TEST(sleep, destroying_a_coroutine_that_sleeps_with_limits_disarms_all_of_them) {
  manual_executor executor;
  weir::result<> got = errc::failed;
  std::stop_source stop;
  started limited(executor, notes_limited(got, 2ms, 1ms));
  started stoppable(executor, notes_result(got, 1ms, stop.get_token()));
  limited.destroy();
  stoppable.destroy();
  stop.request_stop();
  let_pass(executor, 1h);
  EXPECT_TRUE(executor.empty());
  EXPECT_EQ(got.error(), errc::failed);
}

TEST(sleep, a_ticket_withdraws_it) {
  weir::manual_timers timers;
  weir::use_timers use(timers);
  std::vector<std::error_code> got;
  auto ticket = weir::sleep_for(1h).start([&](weir::result<> r) { got.push_back(r.error()); });
  EXPECT_NE(ticket.id(), 0U);
  EXPECT_FALSE(ticket.done());
  EXPECT_TRUE(ticket.cancel());
  EXPECT_TRUE(ticket.done());
  EXPECT_FALSE(ticket.cancel());
  EXPECT_EQ(got, (std::vector{make_error_code(errc::cancelled)}));
  timers.advance(2h);
  EXPECT_EQ(got.size(), 1U);
}

TEST(sleep, G2_a_ticket_comes_too_late_once_it_has_ended) {
  weir::manual_timers timers;
  weir::use_timers use(timers);
  manual_executor executor;
  std::vector<std::error_code> got;
  auto ticket = weir::sleep_for(1ms).resume_on(executor).start([&](weir::result<> r) { got.push_back(r.error()); });
  executor.timers().advance(2ms);
  EXPECT_FALSE(ticket.cancel());
  EXPECT_FALSE(ticket.done());
  executor.run_all();
  EXPECT_TRUE(ticket.done());
  EXPECT_EQ(got, (std::vector{std::error_code()}));
}

TEST(sleep, dropping_its_ticket_withdraws_nothing) {
  weir::manual_timers timers;
  weir::use_timers use(timers);
  int ended = 0;
  {
    auto dropped = weir::sleep_for(1ms).start([&](weir::result<> r) { ended += r.has_value() ? 1 : 100; });
  }
  timers.advance(2ms);
  EXPECT_EQ(ended, 1);
}

foreign sleeps_outside(bool& slept) {
  co_await weir::sleep_for(1ms);
  slept = true;
}

TEST(sleep, a_foreign_coroutine_sleeps_by_the_programs_timers) {
  weir::manual_timers timers;
  weir::use_timers use(timers);
  bool slept = false;
  const auto outside = sleeps_outside(slept);
  timers.advance(1ms - 1ns);
  EXPECT_FALSE(slept);
  timers.advance(1ns + tick);
  EXPECT_TRUE(slept);
  EXPECT_TRUE(outside.done());
}

TEST(sleep, a_foreign_coroutine_may_be_destroyed_while_it_sleeps) {
  weir::manual_timers timers;
  weir::use_timers use(timers);
  bool slept = false;
  auto outside = sleeps_outside(slept);
  outside.destroy();
  timers.advance(1h);
  EXPECT_FALSE(slept);
}

TEST(sleep, a_task_sleeps_by_the_timers_of_its_executor_and_not_by_the_programs) {
  weir::manual_timers programs;
  weir::use_timers use(programs);
  manual_executor executor;
  started sleeper(executor, sleeps_for(1ms));
  programs.advance(1h);
  executor.run_all();
  EXPECT_FALSE(sleeper.has_ended());
  let_pass(executor, 2ms);
  EXPECT_TRUE(sleeper.has_ended());
}

TEST(sleep, many_sleepers_all_wake) {
  manual_executor executor;
  std::vector<weir::future<>> all;
  for (int i = 0; i < 1'000; ++i) all.push_back(weir::spawn(executor, sleeps_for((i * 7919 % 1'000) * 1ms)));
  executor.run_all();
  for (int i = 0; i < 1'000; ++i) let_pass(executor, 1ms);
  let_pass(executor, tick);
  for (const auto& each : all) EXPECT_TRUE(each.ready());
}

}  // namespace
