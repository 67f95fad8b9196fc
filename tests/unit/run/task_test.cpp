#include <coroutine>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/core/context.hpp>
#include <weir/event.hpp>
#include <weir/run/sync_wait.hpp>
#include <weir/run/task.hpp>
#include <weir/run/this_task.hpp>
#include <weir/run/thread_pool.hpp>
#include <weir/run/when_all.hpp>
#include <weir/semaphore.hpp>

#include <support/foreign.hpp>
#include <support/manual_executor.hpp>
#include <support/started.hpp>
#include <support/tasks.hpp>

namespace {

using weir::sync_wait;
using weir::task;
using weir::test::boom;
using weir::test::boxed;
using weir::test::foreign;
using weir::test::manual_executor;
using weir::test::notes_that_it_ran;
using weir::test::number;
using weir::test::started;
using weir::test::throws;

struct not_default {
  explicit not_default(int number) : value(number) {}
  not_default(not_default&&) = default;
  not_default& operator=(not_default&&) = delete;
  int value;
};

task<not_default> wrapped(int value) { co_return not_default(value); }

task<> throws_nothing_to_return() {
  throw boom();
  co_return;
}

TEST(task, gives_its_value) { EXPECT_EQ(sync_wait(number(7)), 7); }

TEST(task, of_nothing_runs) {
  bool ran = false;
  sync_wait(notes_that_it_ran(ran));
  EXPECT_TRUE(ran);
}

TEST(task, gives_a_move_only_value) { EXPECT_EQ(*sync_wait(boxed(3)), 3); }

TEST(task, gives_a_value_that_cannot_be_default_constructed_or_assigned) { EXPECT_EQ(sync_wait(wrapped(4)).value, 4); }

TEST(task, converts_what_is_returned) {
  constexpr auto text = []() -> task<std::string> { co_return "text"; };
  EXPECT_EQ(sync_wait(text()), "text");
}

task<int> adds(int first, int second) {
  const int a = co_await number(first);
  const int b = co_await number(second);
  co_return a + b;
}

TEST(task, awaits_others_one_after_the_other) { EXPECT_EQ(sync_wait(adds(2, 3)), 5); }

task<int> unboxes() {
  auto box = co_await boxed(5);
  auto wrap = co_await wrapped(6);
  co_return *box + wrap.value;
}

TEST(task, takes_move_only_values_from_its_children) { EXPECT_EQ(sync_wait(unboxes()), 11); }

TEST(task, its_exception_reaches_who_awaits_it) {
  EXPECT_THROW(sync_wait(throws()), boom);
  EXPECT_THROW(sync_wait(throws_nothing_to_return()), boom);
}

task<std::string> catches() {
  std::string caught;
  try {
    co_await throws();
  } catch (const boom& thrown) {
    caught = thrown.what();
  }
  try {
    co_await throws_nothing_to_return();
  } catch (const boom& thrown) {
    caught += thrown.what();
  }
  co_return caught;
}

TEST(task, can_catch_its_childs_exception_and_go_on) { EXPECT_EQ(sync_wait(catches()), "boomboom"); }

task<int> holds(std::shared_ptr<int> held, bool& ran) {
  ran = true;
  co_return *held;
}

TEST(task, one_that_is_never_awaited_never_starts_and_gives_up_what_it_holds) {
  const auto held = std::make_shared<int>(1);
  bool ran = false;
  {
    auto lazy = holds(held, ran);
    EXPECT_TRUE(static_cast<bool>(lazy));
    EXPECT_EQ(held.use_count(), 2);
  }
  EXPECT_FALSE(ran);
  EXPECT_EQ(held.use_count(), 1);
}

TEST(task, moves_its_coroutine_along) {
  const auto held = std::make_shared<int>(9);
  bool ran = false;
  auto first = holds(held, ran);
  auto second = std::move(first);
  EXPECT_FALSE(static_cast<bool>(first));
  EXPECT_TRUE(static_cast<bool>(second));
  task<int> third;
  EXPECT_FALSE(static_cast<bool>(third));
  third = std::move(second);
  EXPECT_EQ(sync_wait(std::move(third)), 9);
  EXPECT_TRUE(ran);
  EXPECT_EQ(held.use_count(), 1);
}

TEST(task, assigning_destroys_the_one_that_was_there) {
  const auto held = std::make_shared<int>(9);
  bool ran = false;
  auto kept = holds(held, ran);
  kept = task<int>();
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_FALSE(ran);
}

TEST(task, its_frame_is_gone_when_sync_wait_returns) {
  const auto held = std::make_shared<int>(9);
  bool ran = false;
  EXPECT_EQ(sync_wait(holds(held, ran)), 9);
  EXPECT_EQ(held.use_count(), 1);
}

foreign awaits_from_outside(task<int> awaited, int& got) { got = co_await std::move(awaited); }

TEST(task, can_be_awaited_by_a_foreign_coroutine) {
  int got = 0;
  const auto outside = awaits_from_outside(adds(20, 22), got);
  EXPECT_TRUE(outside.done());
  EXPECT_EQ(got, 42);
}

task<int> waits_then(weir::event& gate, int value) {
  co_await gate.wait();
  co_return value;
}

TEST(task, awaited_by_a_foreign_coroutine_it_goes_on_in_the_flat_loop_of_who_completes_it) {
  weir::event gate;
  int got = 0;
  const auto outside = awaits_from_outside(waits_then(gate, 5), got);
  EXPECT_FALSE(outside.done());
  gate.set();
  EXPECT_TRUE(outside.done());
  EXPECT_EQ(got, 5);
}

foreign catches_outside(bool& caught) {
  try {
    co_await throws();
  } catch (const boom&) {
    caught = true;
  }
}

TEST(task, its_exception_reaches_a_foreign_coroutine) {
  bool caught = false;
  const auto outside = catches_outside(caught);
  EXPECT_TRUE(caught);
}

TEST(task, destroying_a_foreign_coroutine_destroys_the_task_that_it_awaits_and_withdraws_its_wait) {
  weir::event gate;
  int got = 0;
  auto outside = awaits_from_outside(waits_then(gate, 5), got);
  EXPECT_EQ(gate.waiting(), 1U);
  outside.destroy();
  EXPECT_EQ(gate.waiting(), 0U);
  gate.set();
  EXPECT_EQ(got, 0);
}

task<int> depth(int levels) {
  if (levels == 0) co_return 0;
  const int below = co_await depth(levels - 1);
  co_return below + 1;
}

TEST(task, recursion_a_few_thousand_deep_works) { EXPECT_EQ(sync_wait(depth(3'000)), 3'000); }

task<int> depth_over(weir::event& gate, int levels) {
  if (levels == 0) {
    co_await gate.wait();
    co_return 0;
  }
  const int below = co_await depth_over(gate, levels - 1);
  co_return below + 1;
}

TEST(task, recursion_a_few_thousand_deep_may_suspend_at_the_bottom) {
  weir::event gate;
  manual_executor executor;
  started<int> root(executor, depth_over(gate, 3'000));
  EXPECT_FALSE(root.has_ended());
  gate.set();
  EXPECT_FALSE(root.has_ended());
  EXPECT_EQ(executor.run_all(), 1U);
  ASSERT_TRUE(root.has_ended());
  EXPECT_EQ(root.take(), 3'000);
}

TEST(task, destroying_the_root_of_a_suspended_chain_destroys_all_of_it) {
  weir::event gate;
  manual_executor executor;
  started<int> root(executor, depth_over(gate, 10));
  EXPECT_EQ(gate.waiting(), 1U);
  root.destroy();
  EXPECT_EQ(gate.waiting(), 0U);
  gate.set();
  EXPECT_EQ(executor.run_all(), 0U);
  EXPECT_FALSE(root.has_ended());
}

task<> acquires(weir::semaphore& from) { co_await from.acquire(); }

TEST(task, G2_one_destroyed_between_its_grant_and_its_resumption_gives_back_what_it_was_granted) {
  weir::semaphore permits(0);
  manual_executor executor;
  started<void> waiting(executor, acquires(permits));
  permits.release();
  EXPECT_EQ(permits.available(), 0U);
  EXPECT_FALSE(executor.empty());
  waiting.destroy();
  EXPECT_TRUE(executor.empty());
  EXPECT_EQ(permits.available(), 1U);
}

task<int> loops(int times) {
  int sum = 0;
  for (int i = 0; i < times; ++i) sum += co_await number(1);
  co_return sum;
}

TEST(task, a_long_loop_of_children_uses_no_stack_that_stays) { EXPECT_EQ(sync_wait(loops(300'000)), 300'000); }

task<int> ends_elsewhere(weir::event& gate, weir::thread_pool& elsewhere, std::thread::id& ended_on) {
  co_await gate.wait().resume_on(elsewhere);
  ended_on = std::this_thread::get_id();
  co_return 8;
}

task<int> awaits_one_that_ends_elsewhere(weir::event& gate, weir::thread_pool& elsewhere, std::thread::id& ended_on) {
  const int got = co_await ends_elsewhere(gate, elsewhere, ended_on);
  co_return got + 1;
}

TEST(task, a_child_that_suspends_and_ends_on_another_thread_gives_its_value) {
  weir::thread_pool elsewhere(1);
  for (int round = 0; round < 200; ++round) {
    weir::event gate;
    std::thread::id ended_on;
    std::latch go(1);
    std::thread setter([&] {
      go.wait();
      gate.set();
    });
    go.count_down();
    EXPECT_EQ(sync_wait(awaits_one_that_ends_elsewhere(gate, elsewhere, ended_on)), 9);
    EXPECT_NE(ended_on, std::this_thread::get_id());
    setter.join();
  }
}

TEST(task, a_child_may_end_on_another_thread_before_its_parent_has_suspended) {
  weir::thread_pool elsewhere(2);
  weir::event gate(true);
  for (int round = 0; round < 500; ++round) {
    std::thread::id ended_on;
    EXPECT_EQ(sync_wait(awaits_one_that_ends_elsewhere(gate, elsewhere, ended_on)), 9);
  }
}

task<> notes_threads(weir::event& gate, std::vector<std::thread::id>& seen) {
  seen.push_back(std::this_thread::get_id());
  co_await gate.wait();
  seen.push_back(std::this_thread::get_id());
}

TEST(task, keeps_to_its_executor_when_an_operation_is_completed_by_another_thread) {
  for (int round = 0; round < 100; ++round) {
    weir::event gate;
    std::vector<std::thread::id> seen;
    std::thread setter([&] { gate.set(); });
    sync_wait(notes_threads(gate, seen));
    setter.join();
    EXPECT_EQ(seen, std::vector(2, std::this_thread::get_id()));
  }
}

TEST(task, G7_completing_its_operation_posts_it_and_runs_nothing_on_the_stack_of_who_completes) {
  weir::event gate;
  manual_executor executor;
  std::vector<std::thread::id> seen;
  started<void> waiting(executor, notes_threads(gate, seen));
  EXPECT_EQ(seen.size(), 1U);
  gate.set();
  EXPECT_EQ(seen.size(), 1U);
  EXPECT_FALSE(waiting.has_ended());
  EXPECT_EQ(executor.run_all(), 1U);
  EXPECT_EQ(seen.size(), 2U);
  EXPECT_TRUE(waiting.has_ended());
}

task<> notes_after_resuming_on(weir::event& gate, manual_executor& other, std::string& seen) {
  co_await gate.wait().resume_on(other);
  seen += "other ";
  co_await gate.wait();
  seen += "home";
}

TEST(task, resume_on_moves_it_one_time_and_the_next_wait_brings_it_home) {
  weir::event gate;
  manual_executor home;
  manual_executor other;
  std::string seen;
  started<void> moving(home, notes_after_resuming_on(gate, other, seen));
  gate.set();
  gate.reset();
  EXPECT_EQ(home.run_all(), 0U);
  EXPECT_EQ(other.run_all(), 1U);
  EXPECT_EQ(seen, "other ");
  gate.set();
  EXPECT_EQ(other.run_all(), 0U);
  EXPECT_EQ(home.run_all(), 1U);
  EXPECT_EQ(seen, "other home");
}

TEST(task, after_resume_on_the_next_wait_brings_it_home_also_if_there_is_nothing_to_wait_for) {
  weir::event gate(true);
  manual_executor home;
  manual_executor other;
  std::string seen;
  started<void> moving(home, notes_after_resuming_on(gate, other, seen));
  EXPECT_EQ(seen, "");
  EXPECT_EQ(other.run_all(), 1U);
  EXPECT_EQ(seen, "other ");
  EXPECT_EQ(home.run_all(), 1U);
  EXPECT_EQ(seen, "other home");
}

task<> is_home_after(weir::event& open, manual_executor& other, bool yields) {
  co_await open.wait().resume_on(other);
  if (yields) {
    co_await weir::yield();
  } else {
    co_await open.wait();
  }
  for (int i = 0; i < 3; ++i) co_await open.wait();  // nothing to wait for, and it is at home
}

TEST(task, once_home_again_is_not_posted_for_what_it_need_not_wait_for) {
  for (const bool yields : {false, true}) {
    weir::event open(true);
    manual_executor home;
    manual_executor other;
    started<void> moving(home, is_home_after(open, other, yields));
    EXPECT_EQ(other.run_all(), 1U);
    EXPECT_EQ(home.run_all(), 1U) << "it came home once";
    EXPECT_TRUE(moving.has_ended());
  }
}

task<> awaits_something_foreign() { co_await std::suspend_never(); }

task<> awaits_a_child_that_does(weir::event& open) {
  co_await awaits_something_foreign();
  co_await open.wait();
}

TEST(task, a_child_that_ends_without_suspending_leaves_its_parent_where_it_is) {
  weir::event open(true);
  manual_executor home;
  started<void> parent(home, awaits_a_child_that_does(open));
  EXPECT_TRUE(parent.has_ended());
  EXPECT_EQ(home.run_all(), 0U);
}

task<> waits_once(weir::event& open, std::string& seen) {
  co_await open.wait();
  seen += "child ";
}

task<> starts_children_elsewhere(weir::event& open, manual_executor& other, std::string& seen) {
  co_await open.wait().resume_on(other);
  co_await weir::when_all(waits_once(open, seen), waits_once(open, seen));
  seen += "parent";
}

TEST(task, the_children_that_it_starts_elsewhere_come_home_too) {
  weir::event open(true);
  manual_executor home;
  manual_executor other;
  std::string seen;
  started<void> parent(home, starts_children_elsewhere(open, other, seen));
  EXPECT_EQ(other.run_all(), 1U);
  EXPECT_EQ(seen, "") << "the wait of a child brings it home";
  EXPECT_EQ(home.run_all(), 2U);
  EXPECT_EQ(seen, "child child parent");
}

}  // namespace
