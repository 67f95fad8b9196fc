#include <concepts>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/semaphore.hpp>
#include <weir/task.hpp>

#include <support/notes.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using test::message_of;
using test::notes;

TEST(semaphore, hands_out_what_it_has_and_no_more) {
  semaphore sem(3);
  EXPECT_EQ(sem.available(), 3u);
  EXPECT_TRUE(sem.try_acquire(2));
  EXPECT_FALSE(sem.try_acquire(2));
  EXPECT_TRUE(sem.try_acquire());
  EXPECT_FALSE(sem.try_acquire());
  sem.release(2);
  EXPECT_EQ(sem.available(), 2u);
}

TEST(semaphore, G4_a_release_wakes_exactly_those_that_its_permits_satisfy) {
  semaphore sem(0);
  notes log;
  std::vector<ticket> tickets;
  for (int id = 0; id < 5; ++id) tickets.push_back(sem.acquire().start(log.note(id)));
  sem.release(3);
  EXPECT_EQ(log.granted, (std::vector{0, 1, 2}));
  EXPECT_EQ(sem.waiting(), 2u);
  EXPECT_EQ(sem.available(), 0u);
  sem.release(5);
  EXPECT_EQ(log.granted, (std::vector{0, 1, 2, 3, 4}));
  EXPECT_EQ(sem.available(), 3u);
  EXPECT_TRUE(sem.check_invariants());
}

TEST(semaphore, G3_a_large_request_at_the_head_holds_back_smaller_ones) {
  semaphore sem(2);
  notes log;
  auto large = sem.acquire(3).start(log.note(1));
  auto small = sem.acquire(1).start(log.note(2));
  EXPECT_TRUE(log.granted.empty());
  EXPECT_FALSE(sem.try_acquire());
  EXPECT_EQ(sem.available(), 2u);
  sem.release(1);
  EXPECT_EQ(log.granted, (std::vector{1}));
  sem.release(1);
  EXPECT_EQ(log.granted, (std::vector{1, 2}));
}

TEST(semaphore, G5_when_a_large_head_leaves_those_behind_it_that_fit_are_granted_at_once) {
  semaphore sem(2);
  notes log;
  auto large = sem.acquire(3).start(log.note(1));
  auto first = sem.acquire(1).start(log.note(2));
  auto second = sem.acquire(1).start(log.note(3));
  auto third = sem.acquire(1).start(log.note(4));
  EXPECT_TRUE(large.cancel());
  EXPECT_EQ(log.failed, (std::vector<std::error_code>{errc::cancelled}));
  EXPECT_EQ(log.granted, (std::vector{2, 3}));
  EXPECT_EQ(sem.waiting(), 1u);
  EXPECT_TRUE(sem.check_invariants());
  sem.close();
}

TEST(semaphore, G5_a_large_head_that_times_out_lets_those_behind_it_through) {
  manual_timers clock;
  use_timers by_hand(clock);
  semaphore sem(2);
  notes log;
  auto large = sem.acquire(3).within(1ms).start(log.note(1));
  auto small = sem.acquire(2).start(log.note(2));
  clock.advance(2ms);
  EXPECT_EQ(log.failed, (std::vector<std::error_code>{errc::timed_out}));
  EXPECT_EQ(log.granted, (std::vector{2}));
}

TEST(semaphore, G2_a_granted_operation_can_no_longer_be_cancelled) {
  semaphore sem(0);
  notes log;
  auto waits = sem.acquire().start(log.note(1));
  sem.release();
  EXPECT_FALSE(waits.cancel());
  EXPECT_TRUE(waits.done());
  EXPECT_EQ(sem.available(), 0u);
}

TEST(semaphore, a_closed_semaphore_still_takes_releases_and_gives_none) {
  semaphore sem(1);
  sem.close();
  sem.release(2);
  EXPECT_EQ(sem.available(), 3u);
  EXPECT_FALSE(sem.try_acquire());
  EXPECT_FALSE(sem.try_scoped_acquire());
  EXPECT_EQ(sem.acquire().as_result().wait().error(), errc::closed);
}

TEST(semaphore, a_plain_operation_throws_why_it_failed) {
  semaphore sem(0);
  sem.close();
  try {
    sem.acquire().wait();
    FAIL() << "it did not throw";
  } catch (const std::system_error& thrown) {
    EXPECT_EQ(thrown.code(), errc::closed);
  }
}

TEST(semaphore, reduce_takes_out_what_is_available_and_owes_the_rest) {
  semaphore sem(3);
  sem.reduce(2);
  EXPECT_EQ(sem.available(), 1u);
  sem.reduce(3);
  EXPECT_EQ(sem.available(), 0u);
  EXPECT_TRUE(sem.check_invariants());
  sem.release();
  EXPECT_EQ(sem.available(), 0u) << "one of two that are owed";
  sem.release(2);
  EXPECT_EQ(sem.available(), 1u);
  sem.release();
  EXPECT_EQ(sem.available(), 2u);
  EXPECT_TRUE(sem.check_invariants());
}

TEST(semaphore, G2_reducing_while_waiters_queue_grants_nothing_too_much) {
  semaphore sem(2);
  notes log;
  EXPECT_TRUE(sem.try_acquire(2));
  std::vector<ticket> tickets;
  for (int id = 0; id < 3; ++id) tickets.push_back(sem.acquire().start(log.note(id)));
  sem.reduce(1);
  sem.release();  // pays what is owed
  EXPECT_TRUE(log.granted.empty());
  sem.release();
  EXPECT_EQ(log.granted, (std::vector{0}));
  EXPECT_EQ(sem.available(), 0u);
  sem.close();
}

TEST(semaphore, G12_a_reduction_of_more_than_can_ever_be_owed_is_refused) {
  semaphore sem(1, 4);
  sem.reduce(3);
  EXPECT_EQ(message_of([&] { sem.reduce(3); }), "weir::semaphore::reduce(3): 2 are owed already, of at most 4");
  EXPECT_THROW(sem.reduce(3), std::invalid_argument);
  sem.release(3);
  EXPECT_EQ(sem.available(), 1u) << "the refused reduction changed something";
}

TEST(semaphore, G12_a_request_for_none_is_refused_where_it_is_made) {
  semaphore sem(1, 4);
  EXPECT_THROW((void)sem.acquire(0), std::invalid_argument);
  EXPECT_THROW((void)sem.scoped_acquire(0), std::invalid_argument);
  EXPECT_THROW((void)sem.try_acquire(0), std::invalid_argument);
  EXPECT_THROW((void)sem.try_scoped_acquire(0), std::invalid_argument);
  EXPECT_EQ(message_of([&] { (void)sem.acquire(0); }),
            "weir::semaphore: 0 permits can never be acquired: from 1 to 4 can");
  EXPECT_EQ(sem.available(), 1u);
}

TEST(semaphore, G12_a_request_that_can_never_be_satisfied_is_refused_where_it_is_made) {
  semaphore sem(1, 4);
  EXPECT_THROW((void)sem.acquire(5), std::invalid_argument);
  EXPECT_THROW((void)sem.scoped_acquire(5), std::invalid_argument);
  EXPECT_THROW((void)sem.try_acquire(5), std::invalid_argument);
  EXPECT_EQ(message_of([&] { (void)sem.acquire(5); }),
            "weir::semaphore: 5 permits can never be acquired: from 1 to 4 can");
  EXPECT_EQ(sem.waiting(), 0u);
}

TEST(semaphore, G12_wrong_constructor_arguments_are_refused_with_their_numbers) {
  EXPECT_THROW(semaphore(5, 4), std::invalid_argument);
  EXPECT_THROW(semaphore(0, 0), std::invalid_argument);
  EXPECT_THROW(semaphore(0, semaphore::max() + 1), std::invalid_argument);
  EXPECT_NE(message_of([] { semaphore(5, 4); }).find("weir::semaphore(5, 4)"), std::string::npos);
  semaphore full(semaphore::max());
  EXPECT_EQ(full.available(), semaphore::max());
}

TEST(semaphore, G12_a_release_past_the_maximum_is_refused_and_changes_nothing) {
  semaphore sem(2, 4);
  EXPECT_THROW(sem.release(3), std::overflow_error);
  EXPECT_EQ(message_of([&] { sem.release(3); }), "weir::semaphore::release(3): 2 are available, of at most 4");
  EXPECT_EQ(sem.available(), 2u);
  sem.release(2);
  EXPECT_THROW(sem.release(), std::overflow_error);
  EXPECT_THROW(sem.release(std::numeric_limits<std::size_t>::max()), std::overflow_error);
  EXPECT_EQ(sem.available(), 4u);

  semaphore largest(semaphore::max());
  EXPECT_THROW(largest.release(), std::overflow_error);
}

TEST(semaphore, G12_an_over_release_is_judged_by_what_is_available_before_anybody_is_granted) {
  semaphore sem(2, 4);
  notes log;
  auto waits = sem.acquire(4).start(log.note(1));
  EXPECT_THROW(sem.release(3), std::overflow_error);
  EXPECT_TRUE(log.granted.empty());
  EXPECT_EQ(sem.available(), 2u);
  sem.release(2);
  EXPECT_EQ(log.granted, (std::vector{1}));
}

TEST(semaphore, releasing_none_is_no_mistake) {
  semaphore sem(4, 4);
  sem.release(0);
  EXPECT_EQ(sem.available(), 4u);
}

TEST(permit, gives_itself_back) {
  semaphore sem(5);
  {
    permit held = sem.try_scoped_acquire(2);
    EXPECT_TRUE(held);
    EXPECT_EQ(held.count(), 2u);
    EXPECT_EQ(sem.available(), 3u);
  }
  EXPECT_EQ(sem.available(), 5u);
}

TEST(permit, is_moved_not_copied) {
  static_assert(!std::copyable<permit>);
  semaphore sem(5);
  permit first = sem.scoped_acquire(2).wait();
  permit second = std::move(first);
  EXPECT_FALSE(first);
  EXPECT_EQ(second.count(), 2u);
  second = sem.scoped_acquire(3).wait();
  EXPECT_EQ(sem.available(), 2u) << "what it held before was not given back";
}

TEST(permit, releases_once) {
  semaphore sem(5);
  permit held = sem.try_scoped_acquire(2);
  held.release();
  held.release();
  EXPECT_FALSE(held);
  EXPECT_EQ(sem.available(), 5u);
}

TEST(permit, forgotten_permits_are_not_given_back) {
  semaphore sem(5);
  {
    sem.try_scoped_acquire(2).forget();
  }
  EXPECT_EQ(sem.available(), 3u);
}

TEST(permit, is_split_and_merged) {
  semaphore sem(5);
  permit whole = sem.try_scoped_acquire(4);
  permit part = whole.split(3);
  EXPECT_EQ(whole.count(), 1u);
  EXPECT_EQ(part.count(), 3u);
  part.release();
  EXPECT_EQ(sem.available(), 4u);
  permit more = sem.try_scoped_acquire(2);
  whole.merge(std::move(more));
  EXPECT_EQ(whole.count(), 3u);
  EXPECT_FALSE(more);
  permit all = whole.split(3);
  EXPECT_FALSE(whole);
  whole.merge(std::move(all));
  EXPECT_EQ(whole.count(), 3u);
  whole.merge(permit());
  EXPECT_EQ(whole.count(), 3u);
}

TEST(permit, G12_a_wrong_split_or_merge_is_refused_and_changes_nothing) {
  semaphore sem(5);
  semaphore other(5);
  permit held = sem.try_scoped_acquire(2);
  permit foreign = other.try_scoped_acquire(3);
  EXPECT_THROW((void)held.split(0), std::invalid_argument);
  EXPECT_THROW((void)held.split(3), std::invalid_argument);
  EXPECT_EQ(message_of([&] { (void)held.split(3); }), "weir::permit::split(3): it holds 2");
  EXPECT_THROW(held.merge(std::move(foreign)), std::invalid_argument);
  EXPECT_EQ(held.count(), 2u);
  EXPECT_EQ(foreign.count(), 3u);
}

TEST(permit, G2_what_was_released_in_its_stead_makes_no_more_than_the_maximum) {
  semaphore sem(2, 2);
  {
    permit held = sem.try_scoped_acquire(2);
    sem.release(1);
  }
  EXPECT_EQ(sem.available(), 2u);
  EXPECT_TRUE(sem.check_invariants());
}

TEST(permit, an_operation_that_fails_gives_none) {
  semaphore sem(0);
  auto outcome = sem.scoped_acquire().within(0s).wait();
  EXPECT_FALSE(outcome);
  EXPECT_EQ(outcome.error(), errc::timed_out);
}

}  // namespace
}  // namespace weir
