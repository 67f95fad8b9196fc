#pragma once

// An executor that runs what is posted when the test says so, and measures time by a clock that the test moves.

#include <cstddef>
#include <mutex>

#include <weir/core/executor.hpp>
#include <weir/run/timers.hpp>

namespace weir::test {

class manual_executor {
 public:
  void post(work& item) noexcept {
    std::lock_guard lock(mutex_);
    posted_.push_back(item);
  }

  bool retract(work& item) noexcept {
    std::lock_guard lock(mutex_);
    return posted_.remove(item);
  }

  /// Runs the first that is posted. False: nothing is.
  bool run_one() noexcept {
    work* const item = take();
    if (item != nullptr) item->run();
    return item != nullptr;
  }

  /// Runs what is posted, and what that posts. How many.
  std::size_t run_all() noexcept {
    std::size_t ran = 0;
    while (run_one()) ++ran;
    return ran;
  }

  [[nodiscard]] bool empty() noexcept {
    std::lock_guard lock(mutex_);
    return posted_.empty();
  }

  manual_timers& timers() noexcept { return timers_; }

 private:
  work* take() noexcept {
    std::lock_guard lock(mutex_);
    return posted_.pop_front();
  }

  std::mutex mutex_;
  work_list posted_;
  manual_timers timers_;
};

}  // namespace weir::test
