// Completions inside completions: what blocks in one, what a clock or a stop lets through together. G7: nobody waits
// for the code of a waiter that has an executor or is a thread, and nobody is stranded behind somebody else's code.

#include <atomic>
#include <chrono>
#include <memory>
#include <stop_token>
#include <thread>
#include <type_traits>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/mutex.hpp>
#include <weir/semaphore.hpp>
#include <weir/task.hpp>

#include <support/manual_executor.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;

TEST(nesting, G7_two_callbacks_that_block_for_one_mutex_do_not_wait_for_each_other) {
  mutex m;
  event go;
  int locked = 0;
  const auto lock_it = [&](result<>) {
    auto held = m.scoped_lock().wait();
    ++locked;
  };
  auto first = go.wait().start(lock_it);
  auto second = go.wait().start(lock_it);
  ASSERT_TRUE(m.try_lock());
  std::jthread unlocks([&] {
    while (m.waiting() == 0) std::this_thread::yield();
    m.unlock();
  });
  go.set();
  EXPECT_EQ(locked, 2);
}

TEST(nesting, G7_all_that_one_moment_times_out_are_told_before_anyones_code_runs) {
  manual_timers clock;
  use_timers by_hand(clock);
  semaphore sem(0);
  test::manual_executor executor;
  bool posted = false;
  auto first = sem.acquire().within(1ms).start([&](result<>) { posted = !executor.empty(); });
  struct no_timers {
    test::manual_executor& inner;
    void post(work& item) noexcept { inner.post(item); }
  } target{executor};
  auto second = sem.acquire().within(1ms).resume_on(target).start([](result<>) {});
  clock.advance(2ms);
  EXPECT_TRUE(posted);
  executor.run_all();
}

TEST(nesting, G9_code_that_blocks_on_the_timer_thread_does_not_keep_time_limits_from_ending) {
  event never;
  event ended;
  std::atomic<bool> inner_timed_out{false};
  auto outer = never.wait().within(1ms).start([&](result<>) {
    inner_timed_out = never.wait().within(1ms).wait().error() == errc::timed_out;
    ended.set();
  });
  EXPECT_TRUE(ended.wait().within(20s).wait());
  EXPECT_TRUE(inner_timed_out);
  EXPECT_EQ(never.wait().within(1ms).wait().error(), errc::timed_out);
}

TEST(nesting, G7_a_stopped_thread_does_not_wait_for_the_code_of_those_that_its_leaving_lets_through) {
  semaphore sem(1);
  std::stop_source stop;
  event left;
  bool told_first = false;
  std::jthread stopped([&] {
    EXPECT_EQ(sem.acquire(2).stop_on(stop.get_token()).wait().error(), errc::cancelled);
    left.set();
  });
  while (sem.waiting() == 0) std::this_thread::yield();
  auto behind = sem.acquire(1).start([&](result<>) {  // runs inside request_stop
    told_first = left.wait().within(20s).wait().has_value();
  });
  stop.request_stop();
  EXPECT_TRUE(told_first);
}

task<> goes_elsewhere(semaphore& sem, run_loop& there) { co_await sem.acquire().resume_on(there); }

task<std::thread::id> after_a_child_that_went_elsewhere(semaphore& sem, run_loop& there) {
  co_await when_all(goes_elsewhere(sem, there));
  co_await sem.acquire();
  co_return std::this_thread::get_id();
}

TEST(nesting, a_task_comes_home_after_a_child_of_when_all_has_ended_elsewhere) {
  semaphore sem(2);
  run_loop home;
  run_loop there;
  auto asks = spawn(home, after_a_child_that_went_elsewhere(sem, there));
  std::jthread runs_home([&] { home.run(); });
  std::jthread runs_there([&] { there.run(); });
  EXPECT_EQ(asks.get().wait(), runs_home.get_id());
  home.finish();
  there.finish();
}

// A failure must not turn into a value on its way into another result.
static_assert(!std::is_constructible_v<result<bool>, result<>>);
static_assert(!std::is_convertible_v<int, result<std::unique_ptr<int>>>);

}  // namespace
}  // namespace weir
