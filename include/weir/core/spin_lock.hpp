#pragma once

// A lock for a few instructions, for executors and timers. std::lock_guard works with it.

#include <weir/core/atomic.hpp>

namespace weir::core {

class spin_lock {
 public:
  void lock() noexcept {
    // acquire: pairs with the store in unlock
    for (platform::spinner spin; held_.exchange(true, std::memory_order_acquire);) {
      while (held_.load(std::memory_order_relaxed)) spin.step();  // relaxed: the exchange decides
    }
  }

  void unlock() noexcept { held_.store(false, std::memory_order_release); }  // release: pairs with lock

 private:
  platform::atomic<bool> held_{false};
};

}  // namespace weir::core
