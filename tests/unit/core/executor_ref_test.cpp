#include <type_traits>

#include <gtest/gtest.h>

#include <weir/core/executor.hpp>

#include <support/job.hpp>
#include <support/manual_executor.hpp>

namespace {

using weir::executor_ref;
using weir::work;
using weir::test::counting;
using weir::test::manual_executor;

struct bare_executor {
  void post(work& item) noexcept { item.run(); }
};

struct throwing_executor {
  void post(work& item) { item.run(); }
};

TEST(executor_ref, an_executor_is_anything_whose_post_takes_work_and_cannot_throw) {
  static_assert(weir::executor<manual_executor>);
  static_assert(weir::executor<bare_executor>);
  static_assert(weir::executor<const weir::inline_executor>);
  static_assert(weir::executor<executor_ref>);
  static_assert(!weir::executor<throwing_executor>);
  static_assert(!weir::executor<int>);
  static_assert(std::is_trivially_copyable_v<executor_ref>);
}

TEST(executor_ref, posts_to_what_it_names) {
  manual_executor one;
  manual_executor other;
  counting item;
  executor_ref ref(one);
  ref.post(item);
  EXPECT_EQ(item.runs, 0);
  EXPECT_EQ(other.run_all(), 0U);
  EXPECT_EQ(one.run_all(), 1U);
  EXPECT_EQ(item.runs, 1);
}

TEST(executor_ref, a_copy_names_the_same_executor_and_assignment_names_another) {
  manual_executor one;
  manual_executor other;
  counting item;
  const executor_ref first(one);
  executor_ref ref = first;
  ref.post(item);
  EXPECT_FALSE(one.empty());
  EXPECT_TRUE(first.retract(item));
  ref = executor_ref(other);
  ref.post(item);
  EXPECT_TRUE(one.empty());
  EXPECT_EQ(other.run_all(), 1U);
}

TEST(executor_ref, a_reference_to_a_non_const_reference_is_a_copy_and_not_a_reference_to_it) {
  manual_executor one;
  manual_executor other;
  counting item;
  executor_ref first(one);
  executor_ref second(first);
  first = executor_ref(other);
  second.post(item);
  EXPECT_EQ(one.run_all(), 1U);
}

TEST(executor_ref, retracts_from_what_it_names) {
  manual_executor one;
  counting item;
  const executor_ref ref(one);
  EXPECT_FALSE(ref.retract(item));
  ref.post(item);
  EXPECT_TRUE(ref.retract(item));
  EXPECT_FALSE(ref.retract(item));
  EXPECT_EQ(one.run_all(), 0U);
  EXPECT_EQ(item.runs, 0);
}

TEST(executor_ref, has_the_timers_of_what_it_names_or_none) {
  manual_executor with;
  bare_executor without;
  EXPECT_EQ(executor_ref(with).timers(), &with.timers());
  EXPECT_EQ(executor_ref(without).timers(), nullptr);
  EXPECT_EQ(executor_ref().timers(), nullptr);
}

TEST(executor_ref, names_executors_that_can_only_post) {
  bare_executor target;
  counting item;
  executor_ref(target).post(item);
  EXPECT_EQ(item.runs, 1);
}

TEST(executor_ref, retracting_from_an_executor_that_cannot_is_a_reported_mistake) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  bare_executor target;
  counting item;
  const executor_ref ref(target);
  EXPECT_DEATH(static_cast<void>(ref.retract(item)), "without retract");
}

TEST(executor_ref, by_default_is_the_flat_loop) {
  const executor_ref ref;
  counting item;
  {
    weir::core::flat_loop::scope hold;
    ref.post(item);
    EXPECT_EQ(item.runs, 0);
    EXPECT_TRUE(ref.retract(item));
    ref.post(item);
  }
  EXPECT_EQ(item.runs, 1);
  ref.post(item);
  EXPECT_EQ(item.runs, 2);
}

}  // namespace
