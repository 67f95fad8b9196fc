#pragma once

// A completion list: waits are decided and detached into it under the lock, and completed after the lock is released.
// The list is declared before the lock, so its destructor runs after unlocking. From then on no synchronizer is touched
// on behalf of the waits in the list: a notified owner may destroy any synchronizer.

#include <weir/core/claim.hpp>
#include <weir/core/flat_loop.hpp>

namespace weir::core {

class completion {
 public:
  completion() noexcept = default;
  completion(const completion&) = delete;
  completion& operator=(const completion&) = delete;

  /// Adds a decided claim whose winning waiter is in no queue any more.
  void add(claim& decided) noexcept {
    if (decided.is_plain() && !behind_others_) {
      told_.push_back(decided);
    } else {
      behind_others_ = true;
      unsettled_.push_back(decided);
    }
  }

  ~completion() {
    if (!unsettled_.empty()) settle_all();
    work* first = told_.front();
    if (first == nullptr) return;
    if (first->next == nullptr) {
      first->run();
    } else {
      tell_all();
    }
  }

 private:
  /// Pass one. Withdrawing a branch may satisfy waiters behind it: they are added to the end of this list.
  [[gnu::noinline]] void settle_all() noexcept {
    // Unlinking precedes arrive(): after that its starter may use the item.
    while (work* item = unsettled_.pop_front()) {
      auto& wait = static_cast<claim&>(*item);
      if (wait.arrive() && wait.settle(*this)) told_.push_back(wait);
    }
  }

  /// Pass two. Waiters without an executor are collected in the flat loop, so that no user code delays a notification.
  [[gnu::noinline]] void tell_all() noexcept {
    flat_loop::scope gather;
    while (work* item = told_.pop_front()) item->run();
  }

  work_list unsettled_;
  work_list told_;
  bool behind_others_ = false;  // an unsettled claim was added: later claims queue behind it, to keep FIFO order
};

}  // namespace weir::core
