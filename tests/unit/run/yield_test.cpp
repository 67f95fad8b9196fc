#include <coroutine>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/core/flat_loop.hpp>
#include <weir/run/run_loop.hpp>
#include <weir/run/sync_wait.hpp>
#include <weir/run/task.hpp>
#include <weir/run/this_task.hpp>
#include <weir/run/thread_pool.hpp>
#include <weir/run/when_all.hpp>
#include <weir/spawn.hpp>

#include <support/foreign.hpp>
#include <support/manual_executor.hpp>
#include <support/started.hpp>

namespace {

using weir::task;
using weir::test::foreign;
using weir::test::manual_executor;
using weir::test::started;

task<> takes_turns(std::string& order, char name, int turns) {
  for (int i = 0; i < turns; ++i) {
    order += name;
    co_await weir::yield();
  }
}

TEST(yield, lets_everything_that_is_ready_go_first) {
  std::string order;
  weir::run_loop loop;
  auto a = weir::spawn(loop, takes_turns(order, 'a', 3));
  auto b = weir::spawn(loop, takes_turns(order, 'b', 3));
  auto c = weir::spawn(loop, takes_turns(order, 'c', 2));
  loop.finish();
  loop.run();
  EXPECT_EQ(order, "abcabcab");
  EXPECT_TRUE(a.ready() && b.ready() && c.ready());
}

TEST(yield, children_of_one_task_take_turns_too) {
  std::string order;
  weir::sync_wait(weir::when_all(takes_turns(order, 'a', 3), takes_turns(order, 'b', 3)));
  EXPECT_EQ(order, "ababab");
}

TEST(yield, goes_on_only_when_its_executor_runs_it) {
  std::string order;
  manual_executor executor;
  started one(executor, takes_turns(order, 'a', 2));
  EXPECT_EQ(order, "a");
  EXPECT_FALSE(executor.empty());
  executor.run_all();
  EXPECT_EQ(order, "aa");
}

task<> yields_often(int times, int& left) {
  for (left = times; left > 0; --left) co_await weir::yield();
}

TEST(yield, G7_many_times_uses_bounded_stack) {
  int left = -1;
  weir::sync_wait(yields_often(1'000'000, left));
  EXPECT_EQ(left, 0);
}

foreign yields_outside(std::string& order, char name) {
  order += name;
  co_await weir::yield();
  order += name;
}

TEST(yield, a_foreign_coroutine_yields_to_the_flat_loop) {
  std::string order;
  foreign a;
  foreign b;
  {
    weir::core::flat_loop::scope hold;
    a = yields_outside(order, 'a');
    b = yields_outside(order, 'b');
    EXPECT_EQ(order, "ab");
  }
  EXPECT_EQ(order, "abab");
  EXPECT_TRUE(a.done() && b.done());
}

TEST(yield, outside_of_everything_there_is_nobody_to_let_go_first) {
  std::string order;
  const auto a = yields_outside(order, 'a');
  EXPECT_TRUE(a.done());
  EXPECT_EQ(order, "aa");
}

foreign yields_outside_often(int times, int& left) {
  for (left = times; left > 0; --left) co_await weir::yield();
}

TEST(yield, G7_many_times_by_a_foreign_coroutine_uses_bounded_stack) {
  int left = -1;
  const auto a = yields_outside_often(1'000'000, left);
  EXPECT_TRUE(a.done());
  EXPECT_EQ(left, 0);
}

TEST(yield, a_task_that_is_destroyed_while_it_yields_is_never_resumed) {
  std::string order;
  manual_executor executor;
  started gone(executor, takes_turns(order, 'a', 3));
  started stays(executor, takes_turns(order, 'b', 2));
  gone.destroy();
  EXPECT_EQ(executor.run_all(), 2U);
  EXPECT_EQ(order, "abb");
}

TEST(yield, a_task_on_a_run_loop_that_is_destroyed_while_it_yields_is_never_resumed) {
  std::string order;
  weir::run_loop loop;
  started gone(loop, takes_turns(order, 'a', 3));
  gone.destroy();
  loop.finish();
  loop.run();
  EXPECT_EQ(order, "a");
}

TEST(yield, a_foreign_coroutine_that_is_destroyed_while_it_yields_is_never_resumed) {
  std::string order;
  {
    weir::core::flat_loop::scope hold;
    auto gone = yields_outside(order, 'a');
    gone.destroy();
  }
  EXPECT_EQ(order, "a");
}

task<bool> stays_on_the_pool(const std::thread::id outside) {
  bool inside = true;
  for (int i = 0; i < 100; ++i) {
    co_await weir::yield();
    inside = inside && std::this_thread::get_id() != outside;
  }
  co_return inside;
}

TEST(yield, on_a_thread_pool_goes_on_there) {
  weir::thread_pool pool(2);
  auto a = weir::spawn(pool, stays_on_the_pool(std::this_thread::get_id()));
  auto b = weir::spawn(pool, stays_on_the_pool(std::this_thread::get_id()));
  EXPECT_TRUE(a.get().wait());
  EXPECT_TRUE(b.get().wait());
}

}  // namespace
