#pragma once

// The flat loop of a thread runs the waiters that have no executor: on the thread that completed them, one
// after the other, never inside one another, before the outermost weir call of that thread returns. It is
// what makes a chain of a million hand-overs use bounded stack.

#include <utility>

#include <weir/core/atomic.hpp>
#include <weir/core/running_owner.hpp>
#include <weir/core/shared.hpp>
#include <weir/core/work.hpp>

namespace weir::core {

class WEIR_SHARED flat_loop {
 public:
  static flat_loop& current() noexcept { return platform::local<flat_loop>(); }

  /// While one is open nothing runs; the outermost runs what has gathered when it closes.
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

  /// For a thread that, perhaps inside a completion, goes on to run other things before it returns. They
  /// find the loop as if they were outermost, after those that it held have run.
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

  /// Takes back what was posted by this thread and has not run. False: it is not here.
  bool retract(work& item) noexcept { return ready_.remove(item); }

  /// For a thread about to block inside a completion: those behind it must not wait with it.
  void run() noexcept {
    if (ready_.empty()) return;
    const running_for nobody(0);  // not for the task inside whose call this runs
    while (work* item = ready_.pop_front()) item->run();
  }

 private:
  work_list ready_;
  bool held_ = false;
};

}  // namespace weir::core

namespace weir {

/// The flat loop of whichever thread posts.
struct inline_executor {
  /// As of every executor.
  void post(work& item) const noexcept { core::flat_loop::current().post(item); }
  bool retract(work& item) const noexcept { return core::flat_loop::current().retract(item); }
};

}  // namespace weir
