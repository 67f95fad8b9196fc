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
  /// Pass one. Unlinking a branch may satisfy those behind it: they join the end of this same list.
  [[gnu::noinline]] void settle_all() noexcept {
    while (work* item = unsettled_.pop_front()) {  // before it arrives: its starter may go on with it then
      auto& wait = static_cast<claim&>(*item);
      if (wait.arrive() && wait.settle(*this)) told_.push_back(wait);
    }
  }

  /// Pass two. Waiters without an executor gather in the flat loop, so that nobody's code delays a telling.
  [[gnu::noinline]] void tell_all() noexcept {
    flat_loop::scope gather;
    while (work* item = told_.pop_front()) item->run();
  }

  work_list unsettled_;
  work_list told_;
  bool behind_others_ = false;  // whoever comes now comes behind one that was unsettled
};

}  // namespace weir::core
