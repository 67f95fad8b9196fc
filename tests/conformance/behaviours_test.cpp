// The behaviours, each run for every synchronizer and way of waiting that it holds for.

#include <chrono>
#include <cstddef>
#include <limits>
#include <memory>
#include <stop_token>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

#include <weir/core/errc.hpp>
#include <weir/run/timers.hpp>

#include <conformance/subject.hpp>
#include <conformance/subjects.hpp>

namespace weir::test {

using namespace std::chrono_literals;

/// A subject, and a clock that the test moves.
class behaviour : public testing::TestWithParam<subject_factory> {
 protected:
  /// Also in a test that has failed nobody waits longer than his way is there.
  void TearDown() override { sync.destroy(); }

  /// 0, 1 and 2 wait, one of them gives up.
  void start_three_and_stop(int which) {
    std::stop_source stop;
    for (int id = 0; id < 3; ++id) sync.start_stoppable(id, id == which ? stop.get_token() : std::stop_token());
    stop.request_stop();
    sync.expect(1);
    expect_error(which, errc::cancelled);
    expect_waiting(2);
  }

  /// All that wait now, as the synchronizer does it.
  void let_all_through() {
    const std::size_t ended = sync.ended();
    const std::size_t all = ended + sync.waiting();
    if (sync.one_by_one()) {
      for (std::size_t next = ended + 1; next <= all; ++next) {
        sync.let_one();
        sync.expect(next);
      }
    } else {
      sync.make_ready();
      sync.expect(all);
    }
    expect_waiting(0);
  }

  void expect_waiting(std::size_t queued) {
    EXPECT_EQ(sync.waiting(), queued);
    EXPECT_TRUE(sync.check_invariants());
  }
  void expect_let_through(int id) {
    const auto error = sync.error_of(id);
    EXPECT_TRUE(sync.is_success(error)) << "wait " << id << ": " << error.message();
  }
  void expect_error(int id, std::error_code error) { EXPECT_EQ(sync.error_of(id), error) << "wait " << id; }
  void expect_closed(int id) { expect_error(id, sync.closed_error()); }
  void expect_order(const std::vector<int>& ids) {
    if (sync.in_order() || sync.one_by_one()) {
      EXPECT_EQ(sync.order(), ids);
    }
  }

  manual_timers clock;
  use_timers by_hand{clock};
  const std::unique_ptr<subject> made = GetParam().make();
  subject& sync = *made;
};

std::string name_of(const testing::TestParamInfo<subject_factory>& tested) { return tested.param.name; }

// What holds for every synchronizer, whether it lets its waiters through one by one or all at once.

class common : public behaviour {};
INSTANTIATE_TEST_SUITE_P(, common, testing::ValuesIn(all_subjects()), name_of);

TEST_P(common, G1_what_is_ready_is_not_waited_for) {
  sync.make_ready();
  sync.start_plain(1);
  sync.expect(1);
  expect_let_through(1);
  expect_waiting(0);
}

TEST_P(common, G1_many_waits_with_all_limits_end_once_each_whatever_decides_them) {
  std::stop_source stop, never;
  const int many = sync.many();
  const auto quarter = static_cast<std::size_t>(many) / 4;
  for (int id = 0; id < many; ++id) {
    const auto longest = id % 4 == 0 ? core::duration(1ms) : core::duration(1h);
    sync.start_stoppable_within(id, (id % 4 == 1 ? stop : never).get_token(), longest);
  }
  clock.advance(2ms);
  sync.expect(quarter);
  stop.request_stop();
  sync.expect(2 * quarter);
  let_all_through();
  clock.advance(2h);
  never.request_stop();
  sync.expect(4 * quarter);
}

TEST_P(common, G2_a_time_out_takes_nothing) {
  sync.start_within(1, 10ms);
  sync.start_plain(2);
  clock.advance(10ms + 2us);
  sync.expect(1);
  expect_error(1, errc::timed_out);
  let_all_through();
  expect_let_through(2);
}

TEST_P(common, G2_a_stop_requested_before_takes_nothing_even_if_it_is_there) {
  std::stop_source stop;
  stop.request_stop();
  sync.make_ready();
  sync.start_stoppable(1, stop.get_token());
  sync.expect(1);
  expect_error(1, errc::cancelled);
  EXPECT_TRUE(sync.now_or_never());
}

TEST_P(common, G2_what_was_granted_is_not_taken_back_by_a_later_limit) {
  std::stop_source stop;
  sync.start_within_stoppable(1, 1ms, stop.get_token());
  sync.make_ready();
  clock.advance(1s);
  stop.request_stop();
  sync.expect(1);
  expect_let_through(1);
}

TEST_P(common, G2_the_first_of_two_limits_decides_and_the_other_is_no_more) {
  std::stop_source stop;
  sync.start_stoppable_within(1, stop.get_token(), 1ms);
  stop.request_stop();
  sync.expect(1);
  clock.advance(1s);
  sync.expect(1);
  expect_error(1, errc::cancelled);
}

TEST_P(common, G5_cancelling_the_head_lets_the_next_through) {
  start_three_and_stop(0);
  let_all_through();
  expect_order({0, 1, 2});
  expect_let_through(1);
  expect_let_through(2);
}

TEST_P(common, G5_cancelling_in_the_middle_leaves_the_others_in_order) {
  start_three_and_stop(1);
  let_all_through();
  expect_order({1, 0, 2});
  expect_let_through(0);
  expect_let_through(2);
}

TEST_P(common, G5_cancelling_the_tail_leaves_the_others_in_order_and_room_behind_them) {
  start_three_and_stop(2);
  sync.start_plain(3);
  let_all_through();
  expect_order({2, 0, 1, 3});
  for (int id : {0, 1, 3}) expect_let_through(id);
}

TEST_P(common, G6_a_completion_may_call_the_same_object) {
  sync.start_within(1, 1ms, [this] {
    EXPECT_FALSE(sync.now_or_never());
    expect_waiting(2);
    sync.close();
    expect_waiting(0);
  });
  sync.start_plain(2);
  sync.start_within(3, 1h);
  clock.advance(2ms);
  sync.expect(3);
  expect_error(1, errc::timed_out);
  expect_closed(2);
  expect_closed(3);
}

TEST_P(common, G6_a_completion_of_closing_may_call_the_same_object) {
  const auto calls = [this] {
    EXPECT_FALSE(sync.now_or_never());
    expect_waiting(0);
    sync.close();
  };
  sync.start_plain(1, calls);
  sync.start_plain(2, calls);
  sync.close();
  sync.expect(2);
  expect_closed(1);
  expect_closed(2);
}

TEST_P(common, G6_a_completion_may_destroy_the_object_that_let_it_through) {
  sync.start_plain(1, [this] { sync.destroy(); });
  sync.make_ready();
  sync.expect(1);
  expect_let_through(1);
}

TEST_P(common, G9_a_time_limit_never_fires_early) {
  sync.start_within(1, 10ms);
  clock.advance(10ms - 1ns);
  sync.expect(0);
  expect_waiting(1);
  clock.advance(2us);
  sync.expect(1);
}

TEST_P(common, G9_a_zero_or_negative_limit_never_waits) {
  sync.start_within(1, 0ns);
  sync.start_within(2, -1s);
  sync.start_until(3, clock.now() - 1ns);
  sync.start_until(4, clock.now());
  sync.start_within_seconds(5, std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN()));
  sync.expect(5);
  for (int id = 1; id <= 5; ++id) expect_error(id, errc::timed_out);
  expect_waiting(0);
}

TEST_P(common, G9_a_zero_limit_takes_what_is_ready) {
  sync.make_ready();
  sync.start_within(1, 0ns);
  sync.expect(1);
  expect_let_through(1);
}

TEST_P(common, G9_a_limit_longer_than_the_clock_can_count_is_no_limit) {
  sync.start_within_hours(1, std::chrono::hours::max());
  sync.start_within_seconds(2, std::chrono::duration<double>(std::numeric_limits<double>::infinity()));
  clock.advance(24h * 365 * 50);
  sync.expect(0);
  let_all_through();
}

TEST_P(common, G9_the_earlier_of_within_and_until_decides) {
  sync.start_within_until(1, 1h, clock.now() + 5ms);
  sync.start_until_within(2, clock.now() + 1h, 5ms);
  clock.advance(6ms);
  sync.expect(2);
  expect_error(1, errc::timed_out);
  expect_error(2, errc::timed_out);
}

TEST_P(common, G11_closing_completes_every_waiter_and_every_later_one) {
  std::stop_source stop;
  sync.start_plain(1);
  sync.start_within(2, 1h);
  sync.start_stoppable(3, stop.get_token());
  EXPECT_FALSE(sync.closed());
  sync.close();
  sync.expect(3);
  EXPECT_TRUE(sync.closed());
  sync.start_plain(4);
  sync.close();
  sync.start_within(5, 0s);
  sync.expect(5);
  for (int id = 1; id <= 5; ++id) expect_closed(id);
  expect_waiting(0);
}

TEST_P(common, G11_closed_wins_over_ready_and_stays) {
  sync.make_ready();
  sync.close();
  sync.start_plain(1);
  sync.expect(1);
  expect_closed(1);
}

TEST_P(common, G11_a_stop_requested_before_wins_over_closed) {
  std::stop_source stop;
  stop.request_stop();
  sync.close();
  sync.start_stoppable(1, stop.get_token());
  sync.expect(1);
  expect_error(1, errc::cancelled);
}

TEST_P(common, G11_destroying_completes_every_waiter_with_closed) {
  sync.start_plain(1);
  sync.start_within(2, 1h);
  sync.destroy();
  sync.expect(2);
  expect_closed(1);
  expect_closed(2);
  clock.advance(2h);
}

// What lets its waiters through one by one.

class one_by_one : public behaviour {};
INSTANTIATE_TEST_SUITE_P(, one_by_one, testing::ValuesIn(one_by_one_subjects()), name_of);

TEST_P(one_by_one, G3_waiters_are_let_through_in_the_order_in_which_they_came) {
  for (int id = 0; id < 5; ++id) sync.start_plain(id);
  expect_waiting(5);
  for (std::size_t ended = 1; ended <= 5; ++ended) {
    sync.let_one();
    sync.expect(ended);
    expect_waiting(5 - ended);
  }
  expect_order({0, 1, 2, 3, 4});
}

TEST_P(one_by_one, G3_a_newcomer_that_asks_now_does_not_overtake_a_waiter) {
  sync.start_plain(1);
  EXPECT_FALSE(sync.now_or_never());
  sync.let_one();
  sync.expect(1);
  EXPECT_FALSE(sync.now_or_never()) << "what was handed to the waiter was had by a second one";
}

TEST_P(one_by_one, G6_a_completion_may_let_the_next_through) {
  for (int id = 0; id < 4; ++id) sync.start_plain(id, [this] { sync.let_one(); });
  sync.start_plain(4);
  sync.let_one();
  sync.expect(5);
  expect_waiting(0);
  for (int id = 0; id < 5; ++id) expect_let_through(id);
  if (sync.in_order()) expect_order({0, 1, 2, 3, 4});
}

TEST_P(one_by_one, G6_a_completion_may_close_the_object_on_those_behind_it) {
  sync.start_plain(1, [this] { sync.close(); });
  sync.start_plain(2);
  sync.start_plain(3);
  sync.let_one();
  sync.expect(3);
  expect_let_through(1);
  expect_closed(2);
  expect_closed(3);
}

// What lets all its waiters through at once.

class together : public behaviour {};
INSTANTIATE_TEST_SUITE_P(, together, testing::ValuesIn(together_subjects()), name_of);

TEST_P(together, G1_whoever_comes_later_is_let_through_too) {
  sync.start_plain(0);
  let_all_through();
  for (int id = 1; id < 4; ++id) sync.start_plain(id);
  sync.expect(4);
  for (int id = 0; id < 4; ++id) expect_let_through(id);
}

TEST_P(together, G3_all_are_told_at_once_in_the_order_in_which_they_came) {
  for (int id = 0; id < 5; ++id) sync.start_plain(id);
  EXPECT_FALSE(sync.now_or_never());
  expect_waiting(5);
  sync.make_ready();
  expect_waiting(0);
  sync.expect(5);
  expect_order({0, 1, 2, 3, 4});
  for (int id = 0; id < 5; ++id) expect_let_through(id);
}

TEST_P(together, G6_a_completion_that_closes_the_object_takes_nothing_from_those_that_were_told) {
  sync.start_plain(1, [this] { sync.close(); });
  sync.start_plain(2);
  sync.start_within(3, 1h);
  sync.make_ready();
  sync.expect(3);
  sync.start_plain(4);
  sync.expect(4);
  for (int id = 1; id <= 3; ++id) expect_let_through(id);
  expect_closed(4);
}

// What can withdraw all its waiters.

class cancel_all : public behaviour {};
INSTANTIATE_TEST_SUITE_P(, cancel_all, testing::ValuesIn(cancelling_subjects()), name_of);

TEST_P(cancel_all, G11_cancel_all_withdraws_all_and_says_how_many) {
  for (int id = 0; id < 4; ++id) sync.start_plain(id, [this] { expect_waiting(0); });  // G6
  EXPECT_EQ(sync.cancel_all(), 4u);
  sync.expect(4);
  for (int id = 0; id < 4; ++id) expect_error(id, errc::cancelled);
  EXPECT_EQ(sync.cancel_all(), 0u);
  sync.start_plain(5);
  let_all_through();
  expect_let_through(5);
}

}  // namespace weir::test
