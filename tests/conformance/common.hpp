#pragma once

// What holds for every synchronizer, whether it lets its waiters through one by one or all at once.

#include <chrono>
#include <limits>
#include <stop_token>

#include <conformance/fixture.hpp>

namespace weir::test {

WEIR_BEHAVIOUR(G1_what_is_ready_is_not_waited_for) {
  this->sync.make_ready();
  this->start_plain(1);
  this->way.expect(1);
  this->expect_let_through(1);
  this->expect_waiting(0);
}

WEIR_BEHAVIOUR(G1_many_waits_with_all_limits_end_once_each_whatever_decides_them) {
  std::stop_source stop, never;
  constexpr std::size_t quarter = TypeParam::many / 4;
  for (int id = 0; id < TypeParam::many; ++id) {
    const auto longest = id % 4 == 0 ? core::duration(1ms) : core::duration(1h);
    this->start(id, [this, longest, token = (id % 4 == 1 ? stop : never).get_token()] {
      return this->sync.wait().stop_on(token).within(longest);
    });
  }
  this->clock.advance(2ms);
  this->way.expect(quarter);
  stop.request_stop();
  this->way.expect(2 * quarter);
  this->let_all_through();
  this->clock.advance(2h);
  never.request_stop();
  this->way.expect(TypeParam::many);
}

WEIR_BEHAVIOUR(G2_a_time_out_takes_nothing) {
  this->start_within(1, 10ms);
  this->start_plain(2);
  this->clock.advance(10ms + 2us);
  this->way.expect(1);
  this->expect_error(1, errc::timed_out);
  this->let_all_through();
  this->expect_let_through(2);
}

WEIR_BEHAVIOUR(G2_a_stop_requested_before_takes_nothing_even_if_it_is_there) {
  std::stop_source stop;
  stop.request_stop();
  this->sync.make_ready();
  this->start_stoppable(1, stop.get_token());
  this->way.expect(1);
  this->expect_error(1, errc::cancelled);
  EXPECT_TRUE(this->sync.now_or_never());
}

WEIR_BEHAVIOUR(G2_what_was_granted_is_not_taken_back_by_a_later_limit) {
  std::stop_source stop;
  this->start(1, [this, token = stop.get_token()] { return this->sync.wait().within(1ms).stop_on(token); });
  this->sync.make_ready();
  this->clock.advance(1s);
  stop.request_stop();
  this->way.expect(1);
  this->expect_let_through(1);
}

WEIR_BEHAVIOUR(G2_the_first_of_two_limits_decides_and_the_other_is_no_more) {
  std::stop_source stop;
  this->start(1, [this, token = stop.get_token()] { return this->sync.wait().stop_on(token).within(1ms); });
  stop.request_stop();
  this->way.expect(1);
  this->clock.advance(1s);
  this->way.expect(1);
  this->expect_error(1, errc::cancelled);
}

WEIR_BEHAVIOUR(G5_cancelling_the_head_lets_the_next_through) {
  this->start_three_and_stop(0);
  this->let_all_through();
  this->expect_order({0, 1, 2});
  this->expect_let_through(1);
  this->expect_let_through(2);
}

WEIR_BEHAVIOUR(G5_cancelling_in_the_middle_leaves_the_others_in_order) {
  this->start_three_and_stop(1);
  this->let_all_through();
  this->expect_order({1, 0, 2});
  this->expect_let_through(0);
  this->expect_let_through(2);
}

WEIR_BEHAVIOUR(G5_cancelling_the_tail_leaves_the_others_in_order_and_room_behind_them) {
  this->start_three_and_stop(2);
  this->start_plain(3);
  this->let_all_through();
  this->expect_order({2, 0, 1, 3});
  for (int id : {0, 1, 3}) this->expect_let_through(id);
}

WEIR_BEHAVIOUR(G6_a_completion_may_call_the_same_object) {
  this->start(
      1, [this] { return this->sync.wait().within(1ms); },
      [this] {
        EXPECT_FALSE(this->sync.now_or_never());
        this->expect_waiting(2);
        this->object().close();
        this->expect_waiting(0);
      });
  this->start_plain(2);
  this->start_within(3, 1h);
  this->clock.advance(2ms);
  this->way.expect(3);
  this->expect_error(1, errc::timed_out);
  this->expect_closed(2);
  this->expect_closed(3);
}

WEIR_BEHAVIOUR(G6_a_completion_of_closing_may_call_the_same_object) {
  const auto calls = [this] {
    EXPECT_FALSE(this->sync.now_or_never());
    this->expect_waiting(0);
    this->object().close();
  };
  this->start_and_then(1, calls);
  this->start_and_then(2, calls);
  this->object().close();
  this->way.expect(2);
  this->expect_closed(1);
  this->expect_closed(2);
}

WEIR_BEHAVIOUR(G6_a_completion_may_destroy_the_object_that_let_it_through) {
  this->start_and_then(1, [this] { this->sync.destroy(); });
  this->sync.make_ready();
  this->way.expect(1);
  this->expect_let_through(1);
}

WEIR_BEHAVIOUR(G9_a_time_limit_never_fires_early) {
  this->start_within(1, 10ms);
  this->clock.advance(10ms - 1ns);
  this->way.expect(0);
  this->expect_waiting(1);
  this->clock.advance(2us);
  this->way.expect(1);
}

WEIR_BEHAVIOUR(G9_a_zero_or_negative_limit_never_waits) {
  this->start_within(1, 0ns);
  this->start_within(2, -1s);
  this->start(3, [this] { return this->sync.wait().until(this->clock.now() - 1ns); });
  this->start(4, [this] { return this->sync.wait().until(this->clock.now()); });
  this->start(5, [this] {
    return this->sync.wait().within(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN()));
  });
  this->way.expect(5);
  for (int id = 1; id <= 5; ++id) this->expect_error(id, errc::timed_out);
  this->expect_waiting(0);
}

WEIR_BEHAVIOUR(G9_a_zero_limit_takes_what_is_ready) {
  this->sync.make_ready();
  this->start_within(1, 0ns);
  this->way.expect(1);
  this->expect_let_through(1);
}

WEIR_BEHAVIOUR(G9_a_limit_longer_than_the_clock_can_count_is_no_limit) {
  this->start(1, [this] { return this->sync.wait().within(std::chrono::hours::max()); });
  this->start(2, [this] {
    return this->sync.wait().within(std::chrono::duration<double>(std::numeric_limits<double>::infinity()));
  });
  this->clock.advance(24h * 365 * 50);
  this->way.expect(0);
  this->let_all_through();
}

WEIR_BEHAVIOUR(G9_the_earlier_of_within_and_until_decides) {
  this->start(1, [this] { return this->sync.wait().within(1h).until(this->clock.now() + 5ms); });
  this->start(2, [this] { return this->sync.wait().until(this->clock.now() + 1h).within(5ms); });
  this->clock.advance(6ms);
  this->way.expect(2);
  this->expect_error(1, errc::timed_out);
  this->expect_error(2, errc::timed_out);
}

WEIR_BEHAVIOUR(G11_closing_completes_every_waiter_and_every_later_one) {
  std::stop_source stop;
  this->start_plain(1);
  this->start_within(2, 1h);
  this->start_stoppable(3, stop.get_token());
  EXPECT_FALSE(this->object().closed());
  this->object().close();
  this->way.expect(3);
  EXPECT_TRUE(this->object().closed());
  this->start_plain(4);
  this->object().close();
  this->start_within(5, 0s);
  this->way.expect(5);
  for (int id = 1; id <= 5; ++id) this->expect_closed(id);
  this->expect_waiting(0);
}

WEIR_BEHAVIOUR(G11_closed_wins_over_ready_and_stays) {
  this->sync.make_ready();
  this->object().close();
  this->start_plain(1);
  this->way.expect(1);
  this->expect_closed(1);
}

WEIR_BEHAVIOUR(G11_a_stop_requested_before_wins_over_closed) {
  std::stop_source stop;
  stop.request_stop();
  this->object().close();
  this->start_stoppable(1, stop.get_token());
  this->way.expect(1);
  this->expect_error(1, errc::cancelled);
}

WEIR_BEHAVIOUR(G11_destroying_completes_every_waiter_with_closed) {
  this->start_plain(1);
  this->start_within(2, 1h);
  this->sync.destroy();
  this->way.expect(2);
  this->expect_closed(1);
  this->expect_closed(2);
  this->clock.advance(2h);
}

}  // namespace weir::test
