// Numbers at their limits: the maximum, debts, and what is given back past them.

#include <cstddef>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/semaphore.hpp>
#include <weir/wait/operation.hpp>

#include <support/foreign.hpp>
#include <support/manual_executor.hpp>
#include <support/notes.hpp>

namespace weir {
namespace {

using test::message_of;
using test::note;

constexpr std::size_t everything = std::numeric_limits<std::size_t>::max();

TEST(semaphore_boundaries, a_release_of_exactly_what_is_missing_is_accepted_and_one_more_refused) {
  for (const std::size_t available : {0u, 1u, 3u, 4u}) {
    semaphore sem(available, 4);
    EXPECT_THROW(sem.release(4 - available + 1), std::overflow_error);
    EXPECT_EQ(sem.available(), available);
    sem.release(4 - available);
    EXPECT_EQ(sem.available(), 4u);
    EXPECT_THROW(sem.release(1), std::overflow_error);
    sem.release(0);
    EXPECT_EQ(sem.available(), 4u);
    EXPECT_TRUE(sem.try_acquire(4));
    EXPECT_FALSE(sem.try_acquire(1));
  }
}

TEST(semaphore_boundaries, a_release_past_the_maximum_while_somebody_waits_grants_nothing) {
  semaphore sem(1, 4);
  std::string order;
  auto waits = note(sem.acquire(2), order, 'a');
  EXPECT_EQ(message_of<std::overflow_error>([&] { sem.release(4); }),
            "weir::semaphore::release(4): 1 are available, of at most 4");
  EXPECT_THROW(sem.release(everything), std::overflow_error);
  EXPECT_EQ(order, "");
  EXPECT_EQ(sem.available(), 1u);
  EXPECT_EQ(sem.waiting(), 1u);
  sem.release(3);
  EXPECT_EQ(order, "a");
  EXPECT_EQ(sem.available(), 2u);
}

TEST(semaphore_boundaries, in_debt_a_release_may_be_the_debt_and_the_maximum_and_no_more) {
  for (const std::size_t owed : {1u, 3u, 4u}) {
    semaphore sem(0, 4);
    sem.reduce(owed);
    const std::string too_many = std::to_string(owed + 5);
    EXPECT_EQ(message_of<std::overflow_error>([&] { sem.release(owed + 5); }),
              "weir::semaphore::release(" + too_many + "): 0 are available, of at most 4");
    EXPECT_THROW(sem.release(everything), std::overflow_error);
    EXPECT_EQ(sem.available(), 0u);
    EXPECT_TRUE(sem.check_invariants());
    sem.release(owed);
    EXPECT_EQ(sem.available(), 0u) << "the refused release has paid a part of the debt";
    sem.release(4);
    EXPECT_EQ(sem.available(), 4u);

    sem.reduce(4 + owed);
    sem.release(owed + 4);
    EXPECT_EQ(sem.available(), 4u) << "all at once";
    EXPECT_TRUE(sem.check_invariants());
  }
}

TEST(semaphore_boundaries, a_refused_release_in_debt_grants_nobody) {
  semaphore sem(0, 2);
  std::string order;
  auto waits = note(sem.acquire(2), order, 'a');
  sem.reduce(1);
  EXPECT_THROW(sem.release(4), std::overflow_error);
  EXPECT_EQ(order, "");
  sem.release(2);
  EXPECT_EQ(order, "") << "one of them was owed";
  EXPECT_EQ(sem.available(), 1u);
  sem.release(1);
  EXPECT_EQ(order, "a");
}

TEST(semaphore_boundaries, a_debt_is_paid_by_one_release_after_the_other) {
  semaphore sem(1, 5);
  sem.reduce(4);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(sem.available(), 0u);
    EXPECT_FALSE(sem.try_acquire());
    sem.release();
    EXPECT_TRUE(sem.check_invariants());
  }
  EXPECT_EQ(sem.available(), 0u) << "three were owed";
  sem.release();
  EXPECT_EQ(sem.available(), 1u);
}

TEST(semaphore_boundaries, a_reduction_by_what_is_available_leaves_no_debt) {
  semaphore sem(3, 4);
  sem.reduce(0);
  EXPECT_EQ(sem.available(), 3u);
  sem.reduce(3);
  EXPECT_EQ(sem.available(), 0u);
  EXPECT_TRUE(sem.check_invariants());
  sem.release();
  EXPECT_EQ(sem.available(), 1u);
}

TEST(semaphore_boundaries, at_most_the_maximum_can_be_owed) {
  semaphore sem(2, 4);
  EXPECT_THROW(sem.reduce(7), std::invalid_argument);
  EXPECT_THROW(sem.reduce(everything), std::invalid_argument);
  EXPECT_EQ(sem.available(), 2u) << "a refused reduction changes nothing";
  sem.reduce(6);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { sem.reduce(1); }),
            "weir::semaphore::reduce(1): 4 are owed already, of at most 4");
  sem.reduce(0);
  sem.release(4);
  EXPECT_EQ(sem.available(), 0u);
  sem.release(4);
  EXPECT_EQ(sem.available(), 4u);
}

TEST(semaphore_boundaries, a_reduction_takes_what_a_large_request_waits_with) {
  semaphore sem(2, 4);
  std::string order;
  auto large = note(sem.acquire(3), order, 'l');
  auto small = note(sem.acquire(1), order, 's');
  sem.reduce(2);
  EXPECT_EQ(sem.available(), 0u);
  sem.release(2);
  EXPECT_EQ(order, "");
  sem.release(1);
  EXPECT_EQ(order, "l");
  sem.release(1);
  EXPECT_EQ(order, "ls");
}

TEST(semaphore_boundaries, the_largest_of_all_can_be_acquired_and_released) {
  semaphore sem(semaphore::max());
  EXPECT_TRUE(sem.try_acquire(semaphore::max()));
  EXPECT_EQ(sem.available(), 0u);
  EXPECT_THROW((void)sem.try_acquire(semaphore::max() + 1), std::invalid_argument);
  sem.release(semaphore::max());
  EXPECT_EQ(sem.available(), semaphore::max());
  EXPECT_THROW(sem.release(1), std::overflow_error);
  EXPECT_THROW(sem.release(everything), std::overflow_error);
  EXPECT_EQ(sem.available(), semaphore::max());
}

TEST(semaphore_boundaries, as_many_as_there_are_can_be_acquired_and_one_more_waits) {
  semaphore sem(3, 4);
  EXPECT_FALSE(sem.try_acquire(4));
  EXPECT_EQ(sem.available(), 3u);
  EXPECT_TRUE(sem.try_acquire(3));
  std::string order;
  auto waits = note(sem.acquire(4), order, 'a');
  sem.release(3);
  EXPECT_EQ(order, "");
  sem.release(1);
  EXPECT_EQ(order, "a");
}

TEST(permit_given_back, past_the_maximum_is_dropped_as_far_as_it_does_not_fit) {
  for (const std::size_t released : {0u, 1u, 2u, 3u}) {
    semaphore sem(4, 4);
    permit held = sem.try_scoped_acquire(3);
    sem.release(released);
    held.release();
    EXPECT_EQ(sem.available(), 4u);
    EXPECT_FALSE(held);
    EXPECT_TRUE(sem.check_invariants());
  }
}

TEST(permit_given_back, pays_the_debt_first_and_then_fills_up_to_the_maximum) {
  semaphore sem(3, 3);
  permit held = sem.try_scoped_acquire(3);
  sem.release(3);
  sem.reduce(4);
  EXPECT_EQ(sem.available(), 0u);
  held.release();
  EXPECT_EQ(sem.available(), 2u) << "one of three was owed";
  sem.release(1);
  EXPECT_EQ(sem.available(), 3u);
}

TEST(permit_given_back, to_a_large_debt_is_all_used_up) {
  semaphore sem(2, 2);
  permit held = sem.try_scoped_acquire(2);
  sem.reduce(2);
  permit one = held.split(1);
  one.release();
  EXPECT_EQ(sem.available(), 0u);
  held.release();
  EXPECT_EQ(sem.available(), 0u);
  sem.release();
  EXPECT_EQ(sem.available(), 1u) << "the debt is paid";
}

TEST(permit_given_back, of_more_than_the_maximum_pays_the_debt_and_fills_up) {
  semaphore sem(2, 2);
  permit held = sem.try_scoped_acquire(2);
  sem.release(2);
  held.merge(sem.try_scoped_acquire(2));
  EXPECT_EQ(held.count(), 4u) << "two of them were released in their stead";
  sem.reduce(2);
  held.release();
  EXPECT_EQ(sem.available(), 2u);
  EXPECT_TRUE(sem.check_invariants());
  sem.reduce(2);
  sem.release(1);
  EXPECT_EQ(sem.available(), 1u) << "nothing is owed any more";
}

TEST(permit_given_back, that_fits_only_in_part_serves_whoever_waits_with_that_part) {
  semaphore sem(4, 4);
  std::string order;
  permit held = sem.try_scoped_acquire(3);
  sem.release(2);
  auto waits = note(sem.acquire(4), order, 'a');
  EXPECT_EQ(sem.available(), 3u);
  held.release();
  EXPECT_EQ(order, "a");
  EXPECT_EQ(sem.available(), 0u);
}

TEST(permit_given_back, to_a_closed_semaphore_is_available_to_nobody) {
  semaphore sem(2, 2);
  permit held = sem.try_scoped_acquire(2);
  sem.close();
  held.release();
  EXPECT_EQ(sem.available(), 2u);
  EXPECT_FALSE(sem.try_acquire());
  EXPECT_EQ(sem.acquire().as_result().wait().error(), errc::closed);
}

TEST(permit_given_back, undelivered_past_the_maximum_is_dropped) {
  semaphore sem(0, 2);
  test::manual_executor where;
  auto acquires = [](semaphore& from, test::manual_executor& there) -> test::foreign {
    co_await from.acquire(2).resume_on(there);
    ADD_FAILURE() << "resumed";
  };
  auto waits = acquires(sem, where);
  sem.release(2);
  EXPECT_EQ(sem.available(), 0u);
  sem.release(1);
  waits.destroy();
  EXPECT_EQ(sem.available(), 2u);
  EXPECT_TRUE(sem.check_invariants());
}

TEST(permit_parts, are_split_down_to_one_and_merged_again) {
  semaphore sem(4, 4);
  permit held = sem.try_scoped_acquire(4);
  permit three = held.split(3);
  EXPECT_EQ(held.count(), 1u);
  EXPECT_EQ(three.count(), 3u);
  EXPECT_THROW((void)held.split(2), std::invalid_argument);
  EXPECT_THROW((void)held.split(0), std::invalid_argument);
  held.merge(std::move(three));
  EXPECT_EQ(held.count(), 4u);
  EXPECT_EQ(three.count(), 0u);
  held.merge(permit());
  EXPECT_EQ(held.count(), 4u);
  permit empty;
  empty.merge(std::move(held));
  EXPECT_EQ(empty.count(), 4u);
  EXPECT_FALSE(held);
  EXPECT_THROW((void)held.split(1), std::invalid_argument);
  EXPECT_EQ(sem.available(), 0u);
}

TEST(permit_parts, an_empty_one_takes_a_permit_of_any_semaphore) {
  semaphore one(1, 1);
  semaphore other(1, 1);
  permit held = one.try_scoped_acquire();
  held.release();
  held.merge(other.try_scoped_acquire());
  EXPECT_EQ(held.count(), 1u);
  EXPECT_EQ(other.available(), 0u);
  EXPECT_EQ(one.available(), 1u);
  held.forget();
  EXPECT_EQ(other.available(), 0u);
  other.release();
}

}  // namespace
}  // namespace weir
