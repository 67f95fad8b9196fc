#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/future.hpp>
#include <weir/run/run_loop.hpp>
#include <weir/run/task.hpp>
#include <weir/run/thread_pool.hpp>
#include <weir/spawn.hpp>

#include <support/manual_executor.hpp>
#include <support/tasks.hpp>

namespace {

using weir::errc;
using weir::run_loop;
using weir::spawn;
using weir::task;
using weir::thread_pool;
using weir::test::boom;
using weir::test::boxed;
using weir::test::manual_executor;
using weir::test::notes_that_it_ran;
using weir::test::number;
using weir::test::throws;

task<int> holds(std::shared_ptr<int> held) { co_return *held; }

task<int> waits_then(weir::event& gate, int value) {
  co_await gate.wait();
  co_return value;
}

TEST(spawn, starts_on_the_executor_and_not_before_it_runs) {
  run_loop loop;
  bool ran = false;
  auto future = spawn(loop, notes_that_it_ran(ran));
  EXPECT_FALSE(ran);
  EXPECT_FALSE(future.ready());
  loop.finish();
  loop.run();
  EXPECT_TRUE(ran);
  EXPECT_TRUE(future.ready());
  EXPECT_NO_THROW(future.get().wait());
}

TEST(spawn, tasks_of_a_run_loop_start_in_the_order_in_which_they_were_spawned) {
  constexpr auto writes = [](std::string& order, char name) -> task<> {
    order += name;
    co_return;
  };
  std::string order;
  run_loop loop;
  std::vector<weir::future<>> all;
  for (const char name : {'a', 'b', 'c', 'd'}) all.push_back(spawn(loop, writes(order, name)));
  loop.finish();
  loop.run();
  EXPECT_EQ(order, "abcd");
}

TEST(spawn, its_value_comes_through_the_future) {
  run_loop loop;
  auto plain = spawn(loop, number(7));
  auto move_only = spawn(loop, boxed(8));
  loop.finish();
  loop.run();
  EXPECT_EQ(plain.get().wait(), 7);
  EXPECT_EQ(*move_only.get().wait(), 8);
}

TEST(spawn, its_exception_comes_through_the_future_thrown_or_in_a_result) {
  run_loop loop;
  auto thrown = spawn(loop, throws());
  auto reported = spawn(loop, throws());
  loop.finish();
  loop.run();
  EXPECT_THROW(thrown.get().wait(), boom);
  auto got = reported.get().as_result().wait();
  EXPECT_EQ(got.error(), errc::failed);
  ASSERT_NE(got.exception(), nullptr);
  EXPECT_THROW(std::rethrow_exception(got.exception()), boom);
}

TEST(spawn, when_the_future_is_ready_the_frame_is_gone) {
  const auto held = std::make_shared<int>(9);
  manual_executor executor;
  auto future = spawn(executor, holds(held));
  EXPECT_EQ(held.use_count(), 2);
  long held_when_ready = 0;
  auto ticket = future.get().start([&](weir::result<int>) { held_when_ready = held.use_count(); });
  executor.run_all();
  EXPECT_TRUE(future.ready());
  EXPECT_EQ(held_when_ready, 1);
}

TEST(spawn, dropping_the_future_detaches_and_stops_nothing) {
  bool ran = false;
  const auto held = std::make_shared<int>(9);
  manual_executor executor;
  std::ignore = spawn(executor, notes_that_it_ran(ran));
  std::ignore = spawn(executor, holds(held));
  executor.run_all();
  EXPECT_TRUE(ran);
  EXPECT_EQ(held.use_count(), 1);
}

TEST(spawn, dropping_the_future_of_a_task_that_throws_is_no_error) {
  manual_executor executor;
  std::ignore = spawn(executor, throws());
  EXPECT_EQ(executor.run_all(), 1U);
}

TEST(spawn, the_future_may_be_dropped_while_the_task_waits) {
  weir::event gate;
  manual_executor executor;
  std::ignore = spawn(executor, waits_then(gate, 1));
  executor.run_all();
  EXPECT_EQ(gate.waiting(), 1U);
  gate.set();
  EXPECT_EQ(executor.run_all(), 1U);
}

TEST(spawn, on_a_thread_pool_runs_there) {
  constexpr auto where = []() -> task<std::thread::id> { co_return std::this_thread::get_id(); };
  thread_pool pool(2);
  auto future = spawn(pool, where());
  EXPECT_NE(future.get().wait(), std::this_thread::get_id());
}

TEST(spawn, a_task_of_a_run_loop_may_wait_for_tasks_of_a_pool_and_goes_on_in_its_loop) {
  constexpr auto gathers = [](thread_pool& pool, run_loop& loop) -> task<bool> {
    const auto home = std::this_thread::get_id();
    bool always_home = true;
    int sum = 0;
    for (int i = 0; i < 100; ++i) {
      auto future = spawn(pool, number(i));
      sum += co_await future.get();
      always_home = always_home && std::this_thread::get_id() == home;
    }
    loop.finish();
    co_return always_home && (sum == 4'950);
  };
  thread_pool pool(2);
  run_loop loop;
  auto future = spawn(loop, gathers(pool, loop));
  loop.run();
  EXPECT_TRUE(future.get().wait());
}

TEST(spawn, G10_what_a_task_on_another_thread_did_is_visible_after_its_future) {
  constexpr auto writes = [](int& written, int value) -> task<> {
    written = value;
    co_return;
  };
  thread_pool pool(2);
  for (int i = 1; i <= 200; ++i) {
    int written = 0;
    auto future = spawn(pool, writes(written, i));
    future.get().wait();
    EXPECT_EQ(written, i);
  }
}

TEST(spawn, G1_many_tasks_from_many_threads_all_end_once_with_their_value) {
  constexpr int threads = 3;
  constexpr int each = 500;
  thread_pool pool(2);
  std::atomic<long> sum{0};
  std::vector<std::thread> spawners;
  for (int t = 0; t < threads; ++t) {
    spawners.emplace_back([&] {
      std::vector<weir::future<int>> all;
      for (int i = 0; i < each; ++i) all.push_back(spawn(pool, number(i)));
      for (auto& future : all) sum += future.get().wait();
    });
  }
  for (auto& spawner : spawners) spawner.join();
  EXPECT_EQ(sum.load(), threads * (each * (each - 1) / 2));
}

TEST(spawn, a_pool_that_is_destroyed_runs_its_tasks_first) {
  std::vector<weir::future<int>> all;
  {
    thread_pool pool(2);
    for (int i = 0; i < 100; ++i) all.push_back(spawn(pool, number(i)));
  }
  for (int i = 0; i < 100; ++i) {
    auto& future = all[static_cast<std::size_t>(i)];
    ASSERT_TRUE(future.ready());
    EXPECT_EQ(future.get().wait(), i);
  }
}

TEST(spawn, G7_the_end_of_a_task_does_not_run_who_waits_for_it_on_its_own_stack) {
  constexpr auto awaits = [](weir::future<int>& waited, bool& got) -> task<> {
    co_await waited.get();
    got = true;
  };
  manual_executor one;
  manual_executor other;
  auto future = spawn(one, number(1));
  bool got = false;
  auto waiting = spawn(other, awaits(future, got));
  other.run_all();
  one.run_all();
  EXPECT_TRUE(future.ready());
  EXPECT_FALSE(got);
  other.run_all();
  EXPECT_TRUE(got);
}

TEST(spawn, a_get_that_gave_up_may_be_repeated_and_a_value_is_had_once) {
  weir::event gate;
  manual_executor executor;
  auto future = spawn(executor, waits_then(gate, 3));
  executor.run_all();
  auto first = future.get().within(std::chrono::seconds(0)).wait();
  EXPECT_EQ(first.error(), errc::timed_out);
  gate.set();
  executor.run_all();
  EXPECT_EQ(future.get().wait(), 3);
  EXPECT_THROW(future.get().wait(), std::logic_error);
}

TEST(spawn, on_the_inline_executor_starts_at_once) {
  weir::inline_executor here;
  auto future = spawn(here, number(5));
  ASSERT_TRUE(future.ready());
  EXPECT_EQ(future.get().wait(), 5);
}

/// Its moves are counted down, and the last one throws.
struct moved_so_often {
  explicit moved_so_often(int& left) : moves_left(&left) {}
  moved_so_often(moved_so_often&& from) : moves_left(from.moves_left) {  // NOLINT: may throw
    if (--*moves_left == 0) throw std::length_error("moved too often");
  }
  int* moves_left;
};

weir::task<moved_so_often> returns_it(int& left) { co_return moved_so_often(left); }

TEST(spawn, a_value_that_cannot_be_moved_on_its_way_is_that_exception_wherever_it_happens) {
  for (int moves = 1; moves <= 3; ++moves) {
    manual_executor executor;
    int left = moves;
    auto made = weir::spawn(executor, returns_it(left));
    executor.run_all();
    ASSERT_TRUE(made.ready());
    EXPECT_THROW((void)made.get().wait(), std::length_error) << moves;
  }
  manual_executor executor;
  int left = 100;
  auto made = weir::spawn(executor, returns_it(left));
  executor.run_all();
  EXPECT_EQ(made.get().wait().moves_left, &left);
}

}  // namespace
