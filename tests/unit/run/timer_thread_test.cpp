#include <chrono>
#include <cstddef>
#include <semaphore>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/run/timers.hpp>
#include <weir/wait/sleep.hpp>

// The few tests that take real time.

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

std::chrono::milliseconds span_of(std::size_t i) { return std::chrono::milliseconds(8 - i); }

TEST(timer_thread, is_one_for_the_program_and_tells_the_time_of_the_steady_clock) {
  auto& service = weir::timer_thread::instance();
  EXPECT_EQ(&service, &weir::timer_thread::instance());
  const auto before = clock::now();
  const auto told = service.now();
  EXPECT_GE(told, before);
  EXPECT_LE(told, clock::now());
}

TEST(timer_thread, G9_a_sleep_is_never_too_short) {
  for (const auto span : {1ns, 1'000ns, 300'000ns, 2'000'000ns}) {
    const auto before = clock::now();
    weir::sleep_for(span).wait();
    EXPECT_GE(clock::now() - before, span);
  }
}

TEST(timer_thread, G9_a_limit_never_fires_early) {
  weir::event never;
  for (const auto limit : {1us, 700us, 3'000us}) {
    const auto before = clock::now();
    const auto got = never.wait().within(limit).wait();
    EXPECT_GE(clock::now() - before, limit);
    EXPECT_EQ(got.error(), weir::errc::timed_out);
  }
  EXPECT_EQ(never.waiting(), 0U);
}

TEST(timer_thread, one_armed_for_sooner_than_the_thread_sleeps_is_not_late_by_that) {
  std::binary_semaphore done(0);
  weir::result<> got;
  auto ticket = weir::sleep_for(1h).start([&](weir::result<> r) {
    got = r;
    done.release();
  });
  const auto before = clock::now();
  weir::sleep_for(1ms).wait();
  EXPECT_LT(clock::now() - before, 30min);
  EXPECT_TRUE(ticket.cancel());
  done.acquire();
  EXPECT_EQ(got.error(), weir::errc::cancelled);
}

TEST(timer_thread, serves_many_threads_each_in_its_own_time) {
  std::vector<std::thread> threads;
  std::vector<clock::duration> took(8);
  for (std::size_t i = 0; i < took.size(); ++i) {
    threads.emplace_back([&mine = took[i], i] {
      const auto before = clock::now();
      weir::sleep_for(span_of(i)).wait();
      mine = clock::now() - before;
    });
  }
  for (auto& thread : threads) thread.join();
  for (std::size_t i = 0; i < took.size(); ++i) EXPECT_GE(took[i], span_of(i));
}

}  // namespace
