// G7: long chains use bounded stack, at every level of optimization, whatever the kind of waiter. The stack is the
// one that the system gives: 8 MiB on Linux.

#include <cstddef>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <weir/mutex.hpp>
#include <weir/semaphore.hpp>
#include <weir/task.hpp>

#include <support/foreign.hpp>

namespace weir {
namespace {

constexpr std::size_t chain_length = 1'000'000;

TEST(chain, G7_a_million_callbacks_each_release_to_the_next) {
  semaphore sem(0);
  std::size_t released = 0;
  for (std::size_t i = 0; i < chain_length; ++i) {
    (void)sem.acquire().start([&](result<>) {
      ++released;
      sem.release();
    });
  }
  EXPECT_EQ(sem.waiting(), chain_length);
  sem.release();
  EXPECT_EQ(released, chain_length);
  EXPECT_EQ(sem.available(), 1u);
}

test::detached acquire_and_release(semaphore& sem, std::size_t& released) {
  co_await sem.acquire();
  ++released;
  sem.release();
}

TEST(chain, G7_a_million_foreign_coroutines_each_release_to_the_next) {
  semaphore sem(0);
  std::size_t released = 0;
  for (std::size_t i = 0; i < chain_length; ++i) acquire_and_release(sem, released);
  EXPECT_EQ(sem.waiting(), chain_length);
  sem.release();
  EXPECT_EQ(released, chain_length);
}

test::detached lock_and_unlock(mutex& m, std::size_t& unlocked) {
  auto held = co_await m.scoped_lock();
  ++unlocked;
}

TEST(chain, G7_a_million_foreign_coroutines_hand_a_mutex_on) {
  mutex m;
  std::size_t unlocked = 0;
  ASSERT_TRUE(m.try_lock());
  for (std::size_t i = 0; i < chain_length; ++i) lock_and_unlock(m, unlocked);
  m.unlock();
  EXPECT_EQ(unlocked, chain_length);
  EXPECT_FALSE(m.locked());
}

task<> task_acquires_and_releases(semaphore& sem, std::size_t& released, run_loop& loop) {
  co_await sem.acquire();
  if (++released == chain_length) loop.finish();
  sem.release();
}

TEST(chain, G7_a_million_tasks_each_release_to_the_next) {
  semaphore sem(0);
  run_loop loop;
  std::size_t released = 0;
  for (std::size_t i = 0; i < chain_length; ++i) (void)spawn(loop, task_acquires_and_releases(sem, released, loop));
  sem.release();
  loop.run();
  EXPECT_EQ(released, chain_length);
}

TEST(chain, G7_a_million_callbacks_on_the_inline_executor_start_each_other) {
  semaphore sem(1);
  inline_executor here;
  std::size_t started = 0;
  struct starter {
    semaphore& sem;
    inline_executor& here;
    std::size_t& started;
    void operator()(result<>) {
      sem.release();
      if (++started < chain_length) (void)sem.acquire().resume_on(here).start(*this);
    }
  };
  (void)sem.acquire().resume_on(here).start(starter{sem, here, started});
  EXPECT_EQ(started, chain_length);
}

constexpr int loop_length = 2'000'000;

task<int> finishes_at_once(int value) { co_return value; }

task<long> awaits_in_a_loop() {
  long sum = 0;
  for (int i = 0; i < loop_length; ++i) sum += co_await finishes_at_once(i % 3);
  co_return sum;
}

TEST(chain, two_million_children_that_finish_without_suspending_are_awaited_in_one_loop) {
  long expected = 0;
  for (int i = 0; i < loop_length; ++i) expected += i % 3;
  EXPECT_EQ(sync_wait(awaits_in_a_loop()), expected);
}

task<> suspends_once() { co_await yield(); }

task<> awaits_suspending_children() {
  for (int i = 0; i < loop_length / 10; ++i) co_await suspends_once();
}

TEST(chain, children_that_suspend_are_awaited_in_one_loop) { sync_wait(awaits_suspending_children()); }

task<> uncontended(semaphore& sem, mutex& m) {
  for (int i = 0; i < loop_length / 10; ++i) {
    co_await sem.acquire();
    co_await m.lock();
    m.unlock();
    sem.release();
  }
}

TEST(chain, waits_that_are_satisfied_at_once_are_awaited_in_one_loop) {
  semaphore sem(1);
  mutex m;
  sync_wait(uncontended(sem, m));
}

}  // namespace
}  // namespace weir
