#pragma once

// One suite of behaviours, for every synchronizer over every way of waiting. A file for each synchronizer defines
// WEIR_CASE (cases.hpp) and WEIR_SUITE, the name of its suite, and includes this.

#include <chrono>
#include <limits>
#include <stop_token>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <conformance/cases.hpp>
#include <conformance/ways.hpp>

namespace weir::test {

using namespace std::chrono_literals;

template <class Way>
class WEIR_SUITE : public testing::Test {
 protected:
  auto& object() { return sync.object(); }

  void start_plain(int id) {
    way.start(object(), id, [this] { return sync.wait().as_result(); });
  }
  void start_within(int id, core::duration longest) {
    way.start(object(), id, [this, longest] { return sync.wait().within(longest); });
  }
  void start_stoppable(int id, std::stop_token token) {
    way.start(object(), id, [this, token] { return sync.wait().stop_on(token); });
  }

  void expect_waiting(std::size_t queued) {
    EXPECT_EQ(object().waiting(), queued);
    EXPECT_TRUE(object().check_invariants());
  }

  manual_timers clock;
  use_timers by_hand{clock};
  WEIR_CASE sync;
  Way way;  // destroyed first: its threads end before what they wait for
};

using ways = testing::Types<coroutine_way, task_way, callback_way, posted_callback_way, thread_way>;

#define WEIR_TYPED_TEST(suite, name) TYPED_TEST(suite, name)
#define WEIR_BEHAVIOUR(name) WEIR_TYPED_TEST(WEIR_SUITE, name)
#define WEIR_OVER_WAYS(suite) TYPED_TEST_SUITE(suite, ways)
WEIR_OVER_WAYS(WEIR_SUITE);

WEIR_BEHAVIOUR(G1_what_is_ready_is_not_waited_for) {
  this->sync.make_ready();
  this->start_plain(1);
  this->way.expect(1);
  EXPECT_FALSE(this->way.error_of(1));
  this->expect_waiting(0);
}

WEIR_BEHAVIOUR(G3_waiters_are_let_through_in_the_order_in_which_they_came) {
  for (int id = 0; id < 5; ++id) this->start_plain(id);
  this->expect_waiting(5);
  for (std::size_t ended = 1; ended <= 5; ++ended) {
    this->sync.let_one();
    this->way.expect(ended);
    this->expect_waiting(5 - ended);
  }
  EXPECT_EQ(this->way.order(), (std::vector{0, 1, 2, 3, 4}));
}

WEIR_BEHAVIOUR(G3_a_newcomer_that_asks_now_does_not_overtake_a_waiter) {
  this->start_plain(1);
  EXPECT_FALSE(this->sync.now_or_never());
  this->sync.let_one();
  this->way.expect(1);
  EXPECT_FALSE(this->sync.now_or_never()) << "what was handed to the waiter was had by a second one";
}

WEIR_BEHAVIOUR(G5_cancelling_the_head_lets_the_next_through) {
  std::stop_source stop;
  this->start_stoppable(1, stop.get_token());
  this->start_plain(2);
  this->start_plain(3);
  stop.request_stop();
  this->way.expect(1);
  EXPECT_EQ(this->way.error_of(1), errc::cancelled);
  this->expect_waiting(2);
  this->sync.let_one();
  this->way.expect(2);
  EXPECT_FALSE(this->way.error_of(2));
  this->expect_waiting(1);
  this->object().close();
  this->way.expect(3);
}

WEIR_BEHAVIOUR(G5_cancelling_in_the_middle_leaves_the_others_in_order) {
  std::stop_source stop;
  this->start_plain(1);
  this->start_stoppable(2, stop.get_token());
  this->start_plain(3);
  stop.request_stop();
  this->way.expect(1);
  this->sync.let_one();
  this->way.expect(2);
  this->sync.let_one();
  this->way.expect(3);
  EXPECT_EQ(this->way.order(), (std::vector{2, 1, 3}));
  EXPECT_FALSE(this->way.error_of(1));
  EXPECT_FALSE(this->way.error_of(3));
}

WEIR_BEHAVIOUR(G5_cancelling_the_tail_leaves_the_others_in_order_and_room_behind_them) {
  std::stop_source stop;
  this->start_plain(1);
  this->start_stoppable(2, stop.get_token());
  stop.request_stop();
  this->way.expect(1);
  this->start_plain(3);
  this->sync.let_one();
  this->way.expect(2);
  this->sync.let_one();
  this->way.expect(3);
  EXPECT_EQ(this->way.order(), (std::vector{2, 1, 3}));
}

WEIR_BEHAVIOUR(G2_a_time_out_takes_nothing) {
  this->start_within(1, 10ms);
  this->start_plain(2);
  this->clock.advance(10ms + 2us);
  this->way.expect(1);
  EXPECT_EQ(this->way.error_of(1), errc::timed_out);
  this->sync.let_one();
  this->way.expect(2);
  EXPECT_FALSE(this->way.error_of(2));
  this->expect_waiting(0);
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
  this->way.start(this->object(), 3, [this] { return this->sync.wait().until(this->clock.now() - 1ns); });
  this->way.start(this->object(), 4, [this] { return this->sync.wait().until(this->clock.now()); });
  this->way.start(this->object(), 5, [this] {
    return this->sync.wait().within(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN()));
  });
  this->way.expect(5);
  for (int id = 1; id <= 5; ++id) EXPECT_EQ(this->way.error_of(id), errc::timed_out);
  this->expect_waiting(0);
}

WEIR_BEHAVIOUR(G9_a_zero_limit_takes_what_is_ready) {
  this->sync.make_ready();
  this->start_within(1, 0ns);
  this->way.expect(1);
  EXPECT_FALSE(this->way.error_of(1));
}

WEIR_BEHAVIOUR(G9_a_limit_longer_than_the_clock_can_count_is_no_limit) {
  this->way.start(this->object(), 1, [this] { return this->sync.wait().within(std::chrono::hours::max()); });
  this->way.start(this->object(), 2, [this] {
    return this->sync.wait().within(std::chrono::duration<double>(std::numeric_limits<double>::infinity()));
  });
  this->clock.advance(24h * 365 * 50);
  this->way.expect(0);
  this->sync.let_one();
  this->way.expect(1);
  this->sync.let_one();
  this->way.expect(2);
}

WEIR_BEHAVIOUR(G9_the_earlier_of_within_and_until_decides) {
  this->way.start(this->object(), 1, [this] { return this->sync.wait().within(1h).until(this->clock.now() + 5ms); });
  this->way.start(this->object(), 2, [this] { return this->sync.wait().until(this->clock.now() + 1h).within(5ms); });
  this->clock.advance(6ms);
  this->way.expect(2);
  EXPECT_EQ(this->way.error_of(1), errc::timed_out);
  EXPECT_EQ(this->way.error_of(2), errc::timed_out);
}

WEIR_BEHAVIOUR(G2_a_stop_requested_before_takes_nothing_even_if_it_is_there) {
  std::stop_source stop;
  stop.request_stop();
  this->sync.make_ready();
  this->start_stoppable(1, stop.get_token());
  this->way.expect(1);
  EXPECT_EQ(this->way.error_of(1), errc::cancelled);
  EXPECT_TRUE(this->sync.now_or_never());
}

WEIR_BEHAVIOUR(G2_what_was_granted_is_not_taken_back_by_a_later_limit) {
  std::stop_source stop;
  this->way.start(this->object(), 1,
                  [this, token = stop.get_token()] { return this->sync.wait().within(1ms).stop_on(token); });
  this->sync.let_one();
  this->clock.advance(1s);
  stop.request_stop();
  this->way.expect(1);
  EXPECT_FALSE(this->way.error_of(1));
}

WEIR_BEHAVIOUR(G2_the_first_of_two_limits_decides_and_the_other_is_no_more) {
  std::stop_source stop;
  this->way.start(this->object(), 1,
                  [this, token = stop.get_token()] { return this->sync.wait().stop_on(token).within(1ms); });
  stop.request_stop();
  this->way.expect(1);
  this->clock.advance(1s);
  this->way.expect(1);
  EXPECT_EQ(this->way.error_of(1), errc::cancelled);
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
  for (int id = 1; id <= 5; ++id) EXPECT_EQ(this->way.error_of(id), this->sync.closed_error());
  this->expect_waiting(0);
}

WEIR_BEHAVIOUR(G11_closed_wins_over_ready_and_stays) {
  this->sync.make_ready();
  this->object().close();
  this->start_plain(1);
  this->way.expect(1);
  EXPECT_EQ(this->way.error_of(1), this->sync.closed_error());
}

WEIR_BEHAVIOUR(G11_a_stop_requested_before_wins_over_closed) {
  std::stop_source stop;
  stop.request_stop();
  this->object().close();
  this->start_stoppable(1, stop.get_token());
  this->way.expect(1);
  EXPECT_EQ(this->way.error_of(1), errc::cancelled);
}

WEIR_BEHAVIOUR(G11_destroying_completes_every_waiter_with_closed) {
  this->start_plain(1);
  this->start_within(2, 1h);
  this->sync.destroy();
  this->way.expect(2);
  EXPECT_EQ(this->way.error_of(1), this->sync.closed_error());
  EXPECT_EQ(this->way.error_of(2), this->sync.closed_error());
  this->clock.advance(2h);
}

WEIR_BEHAVIOUR(G11_cancel_all_withdraws_all_and_says_how_many) {
  for (int id = 0; id < 4; ++id) this->start_plain(id);
  EXPECT_EQ(this->object().cancel_all(), 4u);
  this->way.expect(4);
  for (int id = 0; id < 4; ++id) EXPECT_EQ(this->way.error_of(id), errc::cancelled);
  EXPECT_EQ(this->object().cancel_all(), 0u);
  this->start_plain(5);
  this->sync.let_one();
  this->way.expect(5);
  EXPECT_FALSE(this->way.error_of(5));
}

WEIR_BEHAVIOUR(G1_a_thousand_waits_with_all_limits_end_once_each_whatever_decides_them) {
  std::stop_source stop;
  constexpr int kind_count = 4;
  constexpr int rounds = 25;
  for (int round = 0; round < rounds; ++round) {
    for (int kind = 0; kind < kind_count; ++kind) {
      const auto longest = kind == 0 ? core::duration(1ms) : core::duration(1h);
      this->way.start(this->object(), round * kind_count + kind, [this, longest, token = stop.get_token()] {
        return this->sync.wait().stop_on(token).within(longest);
      });
    }
  }
  this->clock.advance(2ms);  // kind 0
  this->way.expect(rounds);
  for (int i = 0; i < rounds; ++i) {
    this->sync.let_one();
    this->way.expect(static_cast<std::size_t>(rounds + i + 1));
  }
  stop.request_stop();
  this->way.expect(rounds * kind_count);
  this->clock.advance(2h);
  this->way.expect(rounds * kind_count);
  this->expect_waiting(0);
}

}  // namespace weir::test
