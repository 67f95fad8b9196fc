#pragma once

// thread_pool: an executor of n threads with one list of work.
//
// Who may call: anyone. Order: first posted, first taken. An idle worker sleeps; a post wakes one idle
// worker if there is one, and nobody otherwise.

#include <cstddef>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <weir/core/atomic.hpp>
#include <weir/core/ring.hpp>
#include <weir/core/spin_lock.hpp>
#include <weir/core/work.hpp>

namespace weir {

class thread_pool {
 public:
  explicit thread_pool(std::size_t threads)
      : size_(threads), workers_(threads != 0 ? std::make_unique<worker[]>(threads) : nullptr) {
    if (threads == 0) throw std::invalid_argument("weir::thread_pool: 0 threads would never run anything");
    try {
      for (std::size_t i = 0; i < size_; ++i) workers_[i].thread = std::thread([this, i] { run(workers_[i]); });
    } catch (...) {
      stop();
      throw;
    }
  }
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;

  /// Runs what is posted, and what that posts, then joins. What still waits would be posted here later: wait for the
  /// futures of what was spawned first.
  ~thread_pool() { stop(); }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  void post(work& item) noexcept {
    worker* woken = nullptr;
    {
      std::lock_guard lock(lock_);
      posted_.push_back(item);
      woken = idle_.pop_front();
    }
    if (woken != nullptr) woken->sleeper.unpark();
  }

  /// Takes back what was posted and has not been taken by a worker.
  bool retract(work& item) noexcept {
    std::lock_guard lock(lock_);
    return posted_.remove(item);
  }

 private:
  struct worker {
    worker* next = nullptr;  // among the idle
    worker* prev = nullptr;
    platform::parker sleeper;
    std::thread thread;
  };

  void run(worker& self) noexcept {
    for (;;) {
      work* item = nullptr;
      {
        std::lock_guard lock(lock_);
        item = posted_.pop_front();
        if (item == nullptr) {
          if (stopping_) return;
          idle_.push_front(self);  // the one that slept last wakes first: its caches are warm
        }
      }
      if (item != nullptr) {
        item->run();
      } else {
        self.sleeper.park();
      }
    }
  }

  void stop() noexcept {
    core::ring<worker> sleeping;
    {
      std::lock_guard lock(lock_);
      stopping_ = true;
      sleeping.append(idle_);
    }
    while (worker* idle = sleeping.pop_front()) idle->sleeper.unpark();
    for (std::size_t i = 0; i < size_; ++i) {
      if (workers_[i].thread.joinable()) workers_[i].thread.join();
    }
  }

  const std::size_t size_;
  std::unique_ptr<worker[]> workers_;
  core::spin_lock lock_;
  work_list posted_;
  core::ring<worker> idle_;
  bool stopping_ = false;
};

}  // namespace weir
