#pragma once

// run_loop: an executor that is one thread inside run().
//
// Who may call: post and finish, anyone; run, one thread at a time. Order: first posted, first run.
// Posting from inside the loop is a push onto a list of its own: no lock, no system call.

#include <cstddef>
#include <mutex>
#include <utility>

#include <weir/core/assert.hpp>
#include <weir/core/atomic.hpp>
#include <weir/core/flat_loop.hpp>
#include <weir/core/park.hpp>
#include <weir/core/shared.hpp>
#include <weir/core/spin_lock.hpp>
#include <weir/core/work.hpp>

namespace weir {

/// An executor that is run by whoever calls run(), in the order in which work was posted.
class run_loop {
 public:
  run_loop() noexcept = default;
  run_loop(const run_loop&) = delete;
  run_loop& operator=(const run_loop&) = delete;
  ~run_loop() {
    WEIR_ASSERT(ready_.empty() && arrived_.empty(), "a run_loop was destroyed with work posted to it");
    WEIR_ASSERT_NO_TASKS("run_loop",
                         own_tasks_ + other_tasks_.load(std::memory_order_relaxed));  // relaxed: all has ended
  }

  /// From any thread.
  void post(work& item) noexcept {
    if (running() == this) {
      ready_.push_back(item);
      return;
    }
    bool wake = false;
    {
      std::lock_guard lock(lock_);
      arrived_.push_back(item);
      has_arrived_.store(true, std::memory_order_relaxed);  // relaxed: only a hint to take the lock
      wake = std::exchange(asleep_, false);
    }
    if (wake) sleeper_.unpark();
  }

  /// Takes back what was posted and has not run. By the thread in run(), or while nobody is.
  bool retract(work& item) noexcept {
    std::lock_guard lock(lock_);
    return ready_.remove(item) || arrived_.remove(item);
  }

  /// Runs what is posted, until finish() has been called and nothing is left.
  void run() noexcept {
    core::flat_loop::inner base;
    const core::running_for nobody(0);
    run_loop* const outer = std::exchange(running(), this);
    while (work* item = next()) item->run();
    running() = outer;
  }

  /// For what runs tasks: one more, or fewer.
  void count_tasks(std::ptrdiff_t change) noexcept {
    if (running() == this) {
      own_tasks_ += change;
    } else {
      other_tasks_.fetch_add(change, std::memory_order_relaxed);  // relaxed: read by the destructor
    }
  }

  /// Lets run() return once nothing is left to run. For good.
  void finish() noexcept {
    bool wake = false;
    {
      std::lock_guard lock(lock_);
      finished_ = true;
      wake = std::exchange(asleep_, false);
    }
    if (wake) sleeper_.unpark();
  }

 private:
  struct WEIR_SHARED innermost {
    run_loop* running;
  };

  static run_loop*& running() noexcept { return platform::local<innermost>().running; }

  /// Null: finished. What arrives from outside queues behind what is ready, and is never starved by it.
  work* next() noexcept {
    for (;;) {
      if (!has_arrived_.load(std::memory_order_relaxed)) {  // relaxed: the lock orders what it hints at
        if (work* item = ready_.pop_front()) return item;
      }
      {
        std::lock_guard lock(lock_);
        has_arrived_.store(false, std::memory_order_relaxed);
        ready_.append(arrived_);
        if (ready_.empty()) {
          if (finished_) return nullptr;
          asleep_ = true;
        }
      }
      if (work* item = ready_.pop_front()) return item;
      core::park(sleeper_);
    }
  }

  work_list ready_;               // of the thread in run()
  std::ptrdiff_t own_tasks_ = 0;  // counted by that thread; the sum of both is the number of tasks
  core::spin_lock lock_;
  work_list arrived_;  // from other threads, with what follows: under the lock
  bool asleep_ = false;
  bool finished_ = false;
  platform::atomic<bool> has_arrived_{false};
  platform::parker sleeper_;
  platform::atomic<std::ptrdiff_t> other_tasks_{0};
};

}  // namespace weir
