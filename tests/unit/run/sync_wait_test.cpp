#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/mutex.hpp>
#include <weir/run/sync_wait.hpp>
#include <weir/run/task.hpp>
#include <weir/run/this_task.hpp>
#include <weir/run/thread_pool.hpp>
#include <weir/spawn.hpp>

namespace {

using weir::sync_wait;
using weir::task;

using log = std::vector<std::string>;

task<std::string> text(std::string value) { co_return value; }

task<std::unique_ptr<int>> boxed() { co_return std::make_unique<int>(3); }

task<> waits(weir::event& gate) { co_await gate.wait(); }

task<int> throws() {
  throw std::out_of_range("thrown");
  co_return 0;
}

task<weir::owner_id> who() {
  const auto me = co_await weir::this_task();
  co_return me.owner;
}

TEST(sync_wait, gives_what_the_task_returns) {
  EXPECT_EQ(sync_wait(text("value")), "value");
  EXPECT_EQ(*sync_wait(boxed()), 3);
}

TEST(sync_wait, rethrows_what_the_task_throws) { EXPECT_THROW(sync_wait(throws()), std::out_of_range); }

TEST(sync_wait, blocks_until_another_thread_completes_what_the_task_waits_for) {
  for (int round = 0; round < 200; ++round) {
    weir::event gate;
    std::thread setter([&] { gate.set(); });
    sync_wait(waits(gate));
    EXPECT_TRUE(gate.is_set());
    setter.join();
  }
}

task<std::vector<std::thread::id>> where_it_runs(weir::event& gate) {
  std::vector<std::thread::id> seen = {std::this_thread::get_id()};
  co_await weir::yield();
  seen.push_back(std::this_thread::get_id());
  co_await gate.wait();
  seen.push_back(std::this_thread::get_id());
  co_return seen;
}

TEST(sync_wait, runs_the_task_on_the_calling_thread) {
  weir::event gate;
  std::thread setter([&] { gate.set(); });
  EXPECT_EQ(sync_wait(where_it_runs(gate)), std::vector(3, std::this_thread::get_id()));
  setter.join();
}

TEST(sync_wait, is_its_calling_threads_own_chain) {
  EXPECT_EQ(sync_wait(who()), weir::owner_id::this_thread());
  EXPECT_EQ(sync_wait(who()), sync_wait(who()));
}

task<std::error_code> locks(weir::mutex& wanted) {
  auto got = co_await wanted.lock().as_result();
  co_return got.error();
}

TEST(sync_wait, a_lock_that_its_thread_holds_would_deadlock) {
  weir::mutex mutex;
  mutex.lock().wait();
  EXPECT_EQ(sync_wait(locks(mutex)), weir::errc::would_deadlock);
  mutex.unlock();
}

task<std::string> waits_inside() {
  auto inner = sync_wait(text("inner"));
  co_await weir::yield();
  co_return inner + " and outer";
}

TEST(sync_wait, may_be_used_inside_a_task) { EXPECT_EQ(sync_wait(waits_inside()), "inner and outer"); }

TEST(sync_wait, inside_a_completion_first_runs_what_its_threads_flat_loop_holds) {
  log written;
  weir::event gate;
  auto first = gate.wait().start([&](weir::result<>) {
    written.push_back(sync_wait(text("inside the first")));
    written.emplace_back("the first ends");
  });
  auto second = gate.wait().start([&](weir::result<>) { written.emplace_back("the second"); });
  gate.set();
  EXPECT_EQ(written, (log{"the second", "inside the first", "the first ends"}));
}

TEST(sync_wait, inside_a_completion_may_wait_for_what_one_behind_it_does) {
  weir::event gate;
  weir::event other;
  bool passed = false;
  auto first = gate.wait().start([&](weir::result<>) {
    sync_wait(waits(other));
    passed = true;
  });
  auto second = gate.wait().start([&](weir::result<>) { other.set(); });
  gate.set();
  EXPECT_TRUE(passed);
}

task<int> sums_futures(weir::thread_pool& pool) {
  constexpr auto squares = [](int n) -> task<int> { co_return n* n; };
  int sum = 0;
  for (int i = 1; i <= 10; ++i) {
    auto square = weir::spawn(pool, squares(i));
    sum += co_await square.get();
  }
  co_return sum;
}

TEST(sync_wait, its_task_may_wait_for_work_of_a_pool) {
  weir::thread_pool pool(2);
  EXPECT_EQ(sync_wait(sums_futures(pool)), 385);
}

}  // namespace
