#pragma once

// The flat loop of a thread resumes waiters without an executor: on the thread that completed them, one after the
// other, never nested, before the outermost weir call of that thread returns. So a chain of a million hand-overs uses
// bounded stack.

#include <utility>

#include <weir/core/atomic.hpp>
#include <weir/core/running_owner.hpp>
#include <weir/core/shared.hpp>
#include <weir/core/work.hpp>

namespace weir::core {

class WEIR_SHARED flat_loop {
 public:
  static flat_loop& current() noexcept { return platform::local<flat_loop>(); }

  /// Holds the loop: while a scope is open nothing runs. The outermost scope runs the collected work when it closes.
  class scope {
   public:
    scope() noexcept : loop_(current()), outermost_(!std::exchange(loop_.held_, true)) {}
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;
    ~scope() {
      if (!outermost_) return;
      loop_.run();
      loop_.held_ = false;
    }

   private:
    flat_loop& loop_;
    bool outermost_;
  };

  /// Releases the loop for a thread that, perhaps inside a completion, runs an event loop before it returns. The work
  /// collected so far runs first; what the event loop runs then sees this loop as if it were outermost.
  class inner {
   public:
    inner() noexcept : loop_(current()) {
      loop_.run();
      was_held_ = std::exchange(loop_.held_, false);
    }
    inner(const inner&) = delete;
    inner& operator=(const inner&) = delete;
    ~inner() { loop_.held_ = was_held_; }

   private:
    flat_loop& loop_;
    bool was_held_;
  };

  void post(work& item) noexcept {
    scope outermost_runs_it;
    ready_.push_back(item);
  }

  /// Takes back work that this thread posted and that has not run. False: it is not here.
  bool retract(work& item) noexcept { return ready_.remove(item); }

  /// Runs the collected work. A thread calls it before it blocks inside a completion: the others must not wait with it.
  void run() noexcept {
    if (ready_.empty()) return;
    const running_for nobody(0);  // the work does not belong to the task that called this
    while (work* item = ready_.pop_front()) item->run();
  }

 private:
  work_list ready_;
  bool held_ = false;
};

}  // namespace weir::core

namespace weir {

/// The executor that runs work in the flat loop of the posting thread.
struct inline_executor {
  /// post() runs the work in the flat loop of this thread; retract() takes it back. False: it is not there.
  void post(work& item) const noexcept { core::flat_loop::current().post(item); }
  bool retract(work& item) const noexcept { return core::flat_loop::current().retract(item); }
};

}  // namespace weir
