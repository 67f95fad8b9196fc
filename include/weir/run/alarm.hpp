#pragma once

// alarm: what the timer thread sleeps on. On Linux it uses a POSIX condition variable, as <condition_variable>, for
// which libstdc++ needs std::shared_ptr, would add 40 ms to the compilation of each file that includes weir.

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

/// A POSIX condition variable on CLOCK_MONOTONIC, the clock of std::chrono::steady_clock on Linux.
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

  /// Returns false once `when` has come. Spurious wake-ups are possible.
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

  /// Returns false once `when` has come. Spurious wake-ups are possible.
  bool wait_until(std::unique_lock<std::mutex>& lock, time_point when) {
    return condition_.wait_until(lock, when) == std::cv_status::no_timeout;
  }

 private:
  std::condition_variable condition_;
};

#endif

/// One thread sleeps, others ring. A ring while no thread sleeps ends the next sleep at once.
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
