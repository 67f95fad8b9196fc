// Whatever each kind of file does, in every combination, correct code runs: a check that fires aborts.

#include <array>
#include <utility>

#include <gtest/gtest.h>

#include <mixed/mixed.hpp>

namespace mixed {
namespace {

/// Calls what(each of both kinds)…, for every combination of three.
template <class What>
void in_every_combination(What what) {
  const std::array both = {&checked(), &unchecked()};
  for (actions* first : both) {
    for (actions* second : both) {
      for (actions* third : both) what(*first, *second, *third);
    }
  }
}

TEST(mixed, an_operation_is_described_moved_and_waited_on_by_either) {
  in_every_combination([](actions& a, actions& b, actions& c) {
    weir::semaphore sem(2);
    b.wait(a.describe(sem));
    auto kept = a.describe(sem);
    c.destroy_moved(kept);
    EXPECT_EQ(sem.available(), 0u);
  });
}

TEST(mixed, a_limited_operation_is_described_and_waited_on_by_either) {
  in_every_combination([](actions& a, actions& b, actions&) {
    weir::queue<int> q(1);
    EXPECT_TRUE(b.wait_with_a_limit(a.describe_push(q, 1)));
    EXPECT_FALSE(b.wait_with_a_limit(a.describe_push(q, 2)));
  });
}

TEST(mixed, a_permit_is_taken_split_and_dropped_by_either) {
  in_every_combination([](actions& a, actions& b, actions& c) {
    auto sem = c.make_semaphore();
    auto held = a.take(*sem, 2);
    auto part = b.split(held);
    a.drop(std::move(part));
    b.drop(std::move(held));
    EXPECT_EQ(sem->available(), 2u);
    a.destroy(std::move(sem));
  });
}

TEST(mixed, a_task_of_either_runs_on_an_executor_of_either) {
  in_every_combination([](actions& a, actions& b, actions& c) {
    auto sem = a.make_semaphore();
    auto threads = b.make_threads();
    auto sum = c.spawn(*threads, a.count(*sem));
    EXPECT_EQ(sum.get().wait(), 1);
    c.destroy(std::move(threads));
    b.destroy(std::move(sem));
  });
}

}  // namespace
}  // namespace mixed
