#pragma once

// A reference count: it counts the users of a shared object and finds the last one.

#include <weir/core/atomic.hpp>

namespace weir::core {

class users {
 public:
  explicit users(int count) noexcept : count_(count) {}

  /// Called by a user, for another one.
  void add() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }  // relaxed: the caller is a user already

  /// Called by a user. True: it is the only one, so no other can be added meanwhile.
  [[nodiscard]] bool alone() const noexcept {
    return count_.load(std::memory_order_acquire) ==
           1;  // acquire: pairs with leave(); the last user sees all that the others did
  }

  /// Called by a user that leaves. True: it was the last, and destroys the shared object.
  bool leave() noexcept {
    if (alone()) return true;  // saves the read-modify-write
    // acq_rel: release publishes to the last user what this one did; acquire is for the last itself
    return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

 private:
  platform::atomic<int> count_;
};

}  // namespace weir::core
