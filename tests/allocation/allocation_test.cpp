// G8: waiting allocates nothing.

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <thread>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/mutex.hpp>
#include <weir/semaphore.hpp>
#include <weir/task.hpp>

#include <support/allocations.hpp>
#include <support/foreign.hpp>
#include <support/manual_executor.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using test::allocations;

/// Waits in a foreign coroutine; counts what happens from the start of the wait to its end.
template <class Make>
test::foreign wait_counted(Make make, std::size_t& counted, bool& ended) {
  const std::size_t before = allocations();
  {
    [[maybe_unused]] auto outcome = co_await make();
  }
  counted = allocations() - before;
  ended = true;
}

TEST(allocation, G8_a_co_await_that_must_wait_allocates_nothing_limits_included) {
  timers();  // the first limit starts the timer thread
  semaphore sem(0);
  mutex m;
  event ready;
  std::stop_source stop;
  test::manual_executor executor;
  ASSERT_TRUE(m.try_lock());

  std::size_t counted = 99;
  bool ended = false;
  const auto check = [&](auto make, auto let_through) {
    counted = 99;
    ended = false;
    auto waits = wait_counted(make, counted, ended);
    EXPECT_FALSE(ended);
    let_through();
    executor.run_all();
    EXPECT_TRUE(ended);
    EXPECT_EQ(counted, 0u);
  };
  const auto release = [&] { sem.release(); };
  check([&] { return sem.acquire().as_result(); }, release);
  check([&] { return sem.scoped_acquire().as_result(); }, release);
  ASSERT_TRUE(sem.try_acquire());
  check([&] { return sem.acquire().within(1h); }, release);
  check([&] { return sem.acquire().until(std::chrono::steady_clock::now() + 1h); }, release);
  check([&] { return sem.acquire().stop_on(stop.get_token()); }, release);
  check([&] { return sem.acquire().within(1h).stop_on(stop.get_token()); }, release);
  check([&] { return sem.acquire().within(1h).stop_on(stop.get_token()).resume_on(executor); }, release);
  check([&] { return m.lock().within(1h).stop_on(stop.get_token()); }, [&] { m.unlock(); });
  check([&] { return ready.wait().within(1h).stop_on(stop.get_token()); }, [&] { ready.notify_one(); });
  check([&] { return sem.acquire().within(1h).stop_on(stop.get_token()); }, [&] { stop.request_stop(); });
  check([&] { return sem.acquire().resume_on(executor).within(1ms); },
        [&] {
          executor.timers().advance(2ms);
          sem.release();
        });
  m.unlock();
}

TEST(allocation, G8_a_blocked_thread_allocates_nothing_limits_included) {
  timers();
  semaphore sem(0);
  std::stop_source stop;
  std::size_t counted = 99;
  std::jthread blocked([&] {
    const std::size_t before = allocations();
    sem.acquire().wait();
    (void)sem.acquire().within(1h).stop_on(stop.get_token()).wait();
    (void)sem.acquire().within(1ms).wait();
    counted = allocations() - before;
  });
  for (int i = 0; i < 2; ++i) {
    while (sem.waiting() == 0) std::this_thread::yield();
    const std::size_t before = allocations();
    sem.release();
    EXPECT_EQ(allocations(), before);
    while (sem.available() != 0) std::this_thread::yield();
  }
  blocked.join();
  EXPECT_EQ(counted, 0u);
}

task<std::size_t> waits_of_a_task(semaphore& sem, std::stop_token stop) {
  const std::size_t before = allocations();
  co_await sem.acquire();
  (void)co_await sem.acquire().within(1h).stop_on(stop);
  co_await yield();
  co_await sleep_for(1us);
  co_return allocations() - before;
}

task<std::size_t> releases_of_a_task(semaphore& sem, int times) {
  const std::size_t before = allocations();
  for (int i = 0; i < times; ++i) {
    co_await yield();
    sem.release();
  }
  co_return allocations() - before;
}

TEST(allocation, G8_the_waits_of_a_task_allocate_nothing) {
  timers();
  semaphore sem(0);
  std::stop_source stop;
  auto both = when_all(waits_of_a_task(sem, stop.get_token()), releases_of_a_task(sem, 2));
  auto [waits, releases] = sync_wait(std::move(both));
  EXPECT_EQ(waits, 0u);
  EXPECT_EQ(releases, 0u);
}

TEST(allocation, G8_start_allocates_once) {
  timers();
  semaphore sem(0);
  std::stop_source stop;
  std::size_t before = allocations();
  auto plain = sem.acquire().start([](result<>) {});
  EXPECT_EQ(allocations() - before, 1u);
  before = allocations();
  auto limited = sem.acquire().within(1h).stop_on(stop.get_token()).start([](result<>) {});
  EXPECT_EQ(allocations() - before, 1u);
  before = allocations();
  sem.release(2);
  EXPECT_EQ(allocations() - before, 0u);
}

}  // namespace
}  // namespace weir
