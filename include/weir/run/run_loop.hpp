#pragma once

// run_loop: an executor whose work runs on the thread inside run().
//
// Who may call: post and finish from any thread; run from one thread at a time.
// Order: FIFO among posts from inside the loop, and among posts from other threads.
// A post from inside the loop pushes onto a list of that thread: no lock, no system call.

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

/// An executor that runs posted work on the thread that calls run(), in FIFO order.
class run_loop {
 public:
  run_loop() noexcept = default;
  run_loop(const run_loop&) = delete;
  run_loop& operator=(const run_loop&) = delete;
  ~run_loop() {
    WEIR_ASSERT(ready_.empty() && arrived_.empty(), "a run_loop was destroyed with work posted to it");
    WEIR_ASSERT_NO_TASKS("run_loop",
                         own_tasks_ + other_tasks_.load(std::memory_order_relaxed));  // relaxed: counting is over
  }

  /// Posts work for the thread in run(). Any thread may call it.
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

  /// Takes back posted work that has not run. Called by the thread in run(), or while no thread is in run().
  bool retract(work& item) noexcept {
    std::lock_guard lock(lock_);
    return ready_.remove(item) || arrived_.remove(item);
  }

  /// Runs posted work until finish() has been called and no work is left.
  void run() noexcept {
    core::flat_loop::inner base;
    const core::running_for nobody(0);
    run_loop* const outer = std::exchange(running(), this);
    while (work* item = next()) item->run();
    running() = outer;
  }

  /// Adds `change` to the number of tasks that run here.
  void count_tasks(std::ptrdiff_t change) noexcept {
    if (running() == this) {
      own_tasks_ += change;
    } else {
      other_tasks_.fetch_add(change, std::memory_order_relaxed);  // relaxed: only the destructor reads it
    }
  }

  /// Lets run() return once no work is left. It cannot be undone.
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

  /// Returns null if finished. Work from other threads queues behind what is ready, and is never starved by it.
  work* next() noexcept {
    for (;;) {
      if (!has_arrived_.load(std::memory_order_relaxed)) {  // relaxed: a hint; the lock orders the list
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

  work_list ready_;               // used by the thread in run(), without a lock
  std::ptrdiff_t own_tasks_ = 0;  // counted by that thread; with other_tasks_ the number of tasks
  core::spin_lock lock_;          // guards arrived_, asleep_ and finished_
  work_list arrived_;             // posted by other threads
  bool asleep_ = false;
  bool finished_ = false;
  platform::atomic<bool> has_arrived_{false};
  platform::parker sleeper_;
  platform::atomic<std::ptrdiff_t> other_tasks_{0};
};

}  // namespace weir
