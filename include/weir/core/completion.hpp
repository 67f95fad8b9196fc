#pragma once

// Decide under the lock, detach into a completion list, complete after the lock is released: the list is
// declared before the lock, so its destructor runs after it. From then on no synchronizer is touched on
// behalf of those in the list: telling an owner may destroy any of them.

#include <weir/core/claim.hpp>
#include <weir/core/flat_loop.hpp>

namespace weir::core {

class completion {
 public:
  completion() noexcept = default;
  completion(const completion&) = delete;
  completion& operator=(const completion&) = delete;

  /// A decided claim whose winning waiter is in no queue any more.
  void add(claim& decided) noexcept {
    // Linked forward only: a work's `prev` says that an executor has it (ring.hpp), and one has not, yet.
    decided.next = nullptr;
    *last_ = &decided;
    last_ = &decided.next;
  }

  ~completion() {
    if (first_ == nullptr) return;
    // Pass one. Withdrawing a branch may satisfy those behind it: they join the end of this same list.
    for (work* item = first_; item != nullptr; item = item->next) static_cast<claim*>(item)->settle(*this);
    // Pass two. Waiters without an executor gather in the flat loop, so that nobody's code delays a telling.
    flat_loop::scope gather;
    for (work* item = first_; item != nullptr;) {
      work* next = item->next;  // the telling ends the claim's life
      item->next = nullptr;
      item->run();
      item = next;
    }
  }

 private:
  work* first_ = nullptr;
  work** last_ = &first_;
};

}  // namespace weir::core
