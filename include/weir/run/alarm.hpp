#pragma once

// What the timer thread sleeps on. A std::condition_variable would do, and does where it is not known how to do
// without; but its header, for which libstdc++ needs std::shared_ptr, would cost each file that includes weir 40 ms.

#include <mutex>

#include <weir/core/shared.hpp>
#include <weir/core/timer.hpp>

#if defined(__linux__)
#include <ctime>

#include <pthread.h>
#else
#include <condition_variable>
#endif

namespace weir::core {

#if defined(__linux__)

/// A condition variable of POSIX, on the clock that is std::chrono::steady_clock here.
class steady_condition {
 public:
  steady_condition() noexcept {
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&condition_, &steady);
    pthread_condattr_destroy(&steady);
  }
  steady_condition(const steady_condition&) = delete;
  steady_condition& operator=(const steady_condition&) = delete;
  ~steady_condition() { pthread_cond_destroy(&condition_); }

  void notify() noexcept { pthread_cond_signal(&condition_); }

  /// False: that time has come. It may wake for no reason.
  bool wait_until(std::unique_lock<std::mutex>& lock, time_point when) noexcept {
    const auto ns = when.time_since_epoch().count();
    const timespec at{ns / 1'000'000'000, ns % 1'000'000'000};
    return pthread_cond_timedwait(&condition_, lock.mutex()->native_handle(), &at) == 0;
  }

 private:
  pthread_cond_t condition_;
};

#else

class steady_condition {
 public:
  void notify() noexcept { condition_.notify_one(); }

  /// False: that time has come. It may wake for no reason.
  bool wait_until(std::unique_lock<std::mutex>& lock, time_point when) {
    return condition_.wait_until(lock, when) == std::cv_status::no_timeout;
  }

 private:
  std::condition_variable condition_;
};

#endif

/// One thread sleeps, others ring. What has rung while nobody slept ends the next sleep.
class WEIR_SHARED alarm {
 public:
  void sleep_until(time_point when) noexcept {
    std::unique_lock lock(mutex_);
    while (!rung_ && condition_.wait_until(lock, when)) {
    }
    rung_ = false;
  }

  void ring() noexcept {
    const std::lock_guard lock(mutex_);
    rung_ = true;
    condition_.notify();
  }

 private:
  std::mutex mutex_;
  steady_condition condition_;
  bool rung_ = false;
};

}  // namespace weir::core
