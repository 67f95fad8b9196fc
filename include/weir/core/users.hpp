#pragma once

// How many use something that they share, and which of them is the last.

#include <weir/core/atomic.hpp>

namespace weir::core {

class users {
 public:
  explicit users(int count) noexcept : count_(count) {}

  /// By one of them, for another one.
  void add() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }  // relaxed: its caller uses it already

  /// By one of them: nobody else is left, and nobody who could add one.
  [[nodiscard]] bool alone() const noexcept {
    return count_.load(std::memory_order_acquire) == 1;  // acquire: the last sees all that the others did
  }

  /// By one that leaves. True: it was the last, and destroys what they shared.
  bool leave() noexcept {
    if (alone()) return true;                                    // which needs no atomic step
    return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;  // acq_rel: release for the last, acquire as the last
  }

 private:
  platform::atomic<int> count_;
};

}  // namespace weir::core
