// What the timer thread sleeps on, and limits that come and go on that thread over time. Real time, in milliseconds;
// nothing has to be quick.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <semaphore>
#include <system_error>
#include <thread>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/run/alarm.hpp>
#include <weir/run/timers.hpp>
#include <weir/semaphore.hpp>
#include <weir/wait/sleep.hpp>

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;
using weir::core::alarm;

constexpr auto long_enough = 30s;  // what has not happened by then never will

/// Whether a sleep that could last very long has ended before that.
bool wakes_early(alarm& sleeps) {
  const auto latest = clock::now() + long_enough;
  sleeps.sleep_until(latest);
  return clock::now() < latest;
}

TEST(alarm, a_sleep_lasts_until_its_time) {
  alarm sleeps;
  for (int round = 0; round < 5; ++round) {
    const auto when = clock::now() + 1ms;
    sleeps.sleep_until(when);
    EXPECT_GE(clock::now(), when);
  }
}

TEST(alarm, a_sleep_until_a_time_that_has_passed_returns) {
  alarm sleeps;
  sleeps.sleep_until(clock::now() - 1s);
  sleeps.sleep_until(clock::time_point());
}

TEST(alarm, what_has_rung_before_ends_the_next_sleep_and_no_other) {
  alarm sleeps;
  for (int round = 0; round < 5; ++round) {
    sleeps.ring();
    sleeps.ring();
    EXPECT_TRUE(wakes_early(sleeps));
    const auto when = clock::now() + 1ms;
    sleeps.sleep_until(when);
    EXPECT_GE(clock::now(), when) << "two rings end one sleep";
  }
}

TEST(alarm, a_ring_from_another_thread_ends_the_sleep_whenever_it_comes) {
  alarm sleeps;
  alarm answers;
  constexpr int rounds = 200;
  const std::jthread rings([&] {
    for (int round = 0; round < rounds; ++round) {
      sleeps.ring();
      EXPECT_TRUE(wakes_early(answers));
    }
  });
  for (int round = 0; round < rounds; ++round) {
    EXPECT_TRUE(wakes_early(sleeps));
    answers.ring();
  }
}

TEST(alarm, a_ring_ends_a_sleep_without_end) {
  alarm sleeps;
  std::binary_semaphore awake(0);
  std::thread sleeper([&] {
    sleeps.sleep_until(clock::time_point::max());
    awake.release();
  });
  sleeps.ring();
  const bool woken = awake.try_acquire_for(long_enough);
  EXPECT_TRUE(woken);
  if (woken) {
    sleeper.join();
  } else {
    sleeper.detach();
  }
}

/// Waits with limits that the timer thread measures, each of which is granted or times out.
class limited_waits {
 public:
  explicit limited_waits(std::size_t count) : waits_(count) {}

  void start(std::size_t index, clock::duration limit) {
    const auto deadline = clock::now() + limit;
    std::ignore = waits_[index].sem.acquire().within(limit).start([this, index, deadline](weir::result<> outcome) {
      EXPECT_TRUE(outcome || clock::now() >= deadline) << "it fired early";
      waits_[index].error = outcome.error();
      ended_.release();
    });
  }
  void grant(std::size_t index) { waits_[index].sem.release(); }

  /// Whether all of them end.
  bool all_end() {
    for (std::size_t i = 0; i < waits_.size(); ++i) {
      if (!ended_.try_acquire_for(long_enough)) return false;
    }
    return true;
  }

  std::error_code error(std::size_t index) { return waits_[index].error; }

 private:
  struct wait {
    weir::semaphore sem{0};
    std::error_code error;
  };

  std::vector<wait> waits_;
  std::counting_semaphore<> ended_{0};
};

TEST(timer_thread, limits_armed_in_any_order_expire_whichever_others_are_disarmed) {
  std::vector<clock::duration> limits = {250us, 1ms, 3ms};
  do {
    for (unsigned granted = 0; granted < 8; ++granted) {
      limited_waits waits(limits.size());
      for (std::size_t i = 0; i < limits.size(); ++i) waits.start(i, limits[i]);
      for (std::size_t i = 0; i < limits.size(); ++i) {
        if ((granted >> i & 1U) != 0) waits.grant(i);  // in time, or too late
      }
      ASSERT_TRUE(waits.all_end());
      for (std::size_t i = 0; i < limits.size(); ++i) {
        if ((granted >> i & 1U) == 0) {
          EXPECT_EQ(waits.error(i), weir::errc::timed_out);
        }
      }
    }
  } while (std::next_permutation(limits.begin(), limits.end()));
}

TEST(timer_thread, after_a_wait_that_was_granted_in_time_the_next_later_limit_expires) {
  for (int round = 0; round < 20; ++round) {
    limited_waits waits(2);
    waits.start(0, 1h);
    waits.grant(0);
    waits.start(1, 1ms);
    ASSERT_TRUE(waits.all_end());
    EXPECT_EQ(waits.error(0), std::error_code());
    EXPECT_EQ(waits.error(1), weir::errc::timed_out);
  }
}

TEST(timer_thread, a_limit_that_is_armed_while_the_thread_sleeps_for_a_later_one_expires_and_so_does_that) {
  for (int round = 0; round < 5; ++round) {
    limited_waits waits(3);
    waits.start(0, 6ms);
    weir::sleep_for(1ms).wait();  // the thread sleeps for the first
    waits.start(1, 1ms);
    waits.start(2, 3ms);
    ASSERT_TRUE(waits.all_end());
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(waits.error(i), weir::errc::timed_out);
  }
}

TEST(timer_thread, after_everything_was_disarmed_and_after_a_pause_the_next_limit_expires) {
  for (int round = 0; round < 5; ++round) {
    {
      limited_waits waits(3);
      for (std::size_t i = 0; i < 3; ++i) waits.start(i, 1ms * (3 - i));
      for (std::size_t i = 0; i < 3; ++i) waits.grant(i);
      ASSERT_TRUE(waits.all_end());
    }
    std::this_thread::sleep_for(4ms);  // the thread looks once in vain, and sleeps without a time
    limited_waits next(1);
    next.start(0, 1ms);
    ASSERT_TRUE(next.all_end());
    EXPECT_EQ(next.error(0), weir::errc::timed_out);
  }
}

TEST(timer_thread, limits_that_are_armed_and_disarmed_on_many_threads_leave_those_that_expire) {
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < 3; ++t) {
    threads.emplace_back([t] {
      weir::semaphore sem(0);
      weir::event never;
      for (unsigned i = 0; i < 60; ++i) {
        auto granted = sem.acquire().within((i + t) % 3 * 1ms + 1h).start([](const weir::result<>&) {});
        EXPECT_EQ(never.wait().within((i + t) % 7 * 40us).wait().error(), weir::errc::timed_out);
        sem.release();
        EXPECT_TRUE(granted.done());
      }
    });
  }
}

}  // namespace
