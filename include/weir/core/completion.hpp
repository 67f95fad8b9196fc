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
  void add(claim& decided) noexcept { decided_.push_back(decided); }

  ~completion() {
    if (decided_.empty()) return;
    // Pass one. Unlinking a branch may satisfy those behind it: they join the end of this same list.
    work_list told;
    while (work* item = decided_.pop_front()) {
      auto& wait = static_cast<claim&>(*item);
      if (wait.arrive() && wait.settle(*this)) told.push_back(wait);
    }
    // Pass two. Waiters without an executor gather in the flat loop, so that nobody's code delays a telling.
    flat_loop::scope gather;
    while (work* item = told.pop_front()) item->run();
  }

 private:
  work_list decided_;
};

}  // namespace weir::core
