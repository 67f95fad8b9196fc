#pragma once

// A lock that executors and timers hold for a few instructions. std::lock_guard works with it.

#include <weir/core/atomic.hpp>

namespace weir::core {

class spin_lock {
 public:
  void lock() noexcept {
    if (!try_lock()) wait_and_lock();
  }

  // acquire: pairs with the store in unlock()
  bool try_lock() noexcept { return !held_.exchange(true, std::memory_order_acquire); }

  void unlock() noexcept { held_.store(false, std::memory_order_release); }  // release: pairs with try_lock()

 private:
  [[gnu::noinline]] void wait_and_lock() noexcept {
    platform::spinner spin;
    do {
      while (held_.load(std::memory_order_relaxed)) spin.step();  // relaxed: the exchange decides
    } while (!try_lock());
  }

  platform::atomic<bool> held_{false};
};

}  // namespace weir::core
