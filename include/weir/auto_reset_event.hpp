#pragma once

// auto_reset_event: a flag that grants one wait each time it is set, and is reset by that grant.
//
// Who may call: every member may be called from any thread at any time. The destructor may run concurrently with
// tickets, timers and stop requests, but not with a member call.
// Order: FIFO. A set() goes directly to the first waiter.
// Cancellation: a wait that gave up has lost its place and has used up no set(). A granted wait cannot be cancelled; a
// grant that cannot be delivered sets the event again, for the next waiter.
// Completions: a waiter resumes on its executor, its own thread, or the flat loop of the thread that called set(),
// after set() has done all its work.

#include <utility>

#include <weir/core/admission.hpp>
#include <weir/core/completion.hpp>
#include <weir/core/synchronizer.hpp>
#include <weir/wait/operation.hpp>

namespace weir {

/// state: locked, queued, closed (core/synchronizer.hpp) and
///   bit 3   set
///
/// I1  While it is set, no undecided waiter is queued.
///
/// Why no wake-up is lost: a waiter queues under the lock, after it has seen there that the event is not set. A later
/// set() sees the queued bit (or waits for the lock) and grants the first undecided waiter under the lock. A waiter
/// that withdraws was decided before, so no set() was spent on it.
class auto_reset_event : public core::synchronizer {
 public:
  /// Creates the event. If `set` is true, the first wait is granted at once.
  auto_reset_event() noexcept : auto_reset_event(false) {}
  explicit auto_reset_event(bool set) noexcept : synchronizer(set ? set_bit : 0) {}

  /// Closes the event: every waiter gets errc::closed.
  ~auto_reset_event() { shut(); }

  /// Grants exactly one wait: the first in the queue, else the next to start. Sets do not add up.
  void set() noexcept {
    word seen = load();
    while ((seen & (locked_bit | queued_bit)) == 0) {
      if (advance(seen, seen | set_bit)) return;  // even if it is set: publishes what the caller did before (G10)
    }
    set_slow();
  }

  /// Takes back a set that no wait has used.
  void reset() noexcept {
    locked lock(*this);
    lock.state &= ~set_bit;
  }

  /// Returns a snapshot, taken without the lock.
  [[nodiscard]] bool is_set() const noexcept { return (load() & set_bit) != 0; }

  /// The operation that wait() returns.
  using wait_op = core::admission::op<auto_reset_event, void>;

  /// Waits until it is set, and resets it. Fails with errc::closed.
  auto wait() noexcept { return operation<wait_op>(wait_op(*this)); }

  /// The Asio spelling: wait()(token). Needs <weir/asio.hpp> or <weir/boost_asio.hpp>.
  template <class Token>
  decltype(auto) async_wait(Token&& token) {
    return wait()(std::forward<Token>(token));
  }

  /// Checks the invariants, which hold between any two calls. For tests.
  [[nodiscard]] bool check_invariants() noexcept {
    locked lock(*this);
    return (lock.state & set_bit) == 0 || !anybody_waits(lock);  // I1
  }

 private:
  friend struct core::admission;
  using node = core::waiter;

  static constexpr word set_bit = word{1} << own_shift;

  /// A newcomer that finds it set overtakes no waiter (I1).
  static core::outcome judge(word state) noexcept {
    if ((state & closed_bit) != 0) return core::outcome::closed;
    return (state & set_bit) != 0 ? core::outcome::granted : core::outcome::pending;
  }

  static core::outcome judge(const locked& lock, core::no_request) noexcept { return judge(lock.state); }

  core::outcome take_now(core::no_request wanted) noexcept {
    word seen = load();
    while ((seen & locked_bit) == 0) {
      const core::outcome verdict = judge(seen);
      if (verdict != core::outcome::granted || advance(seen, seen & ~set_bit)) return verdict;
    }
    return core::admission::take_locked(*this, wanted);
  }

  static bool anything_left(const locked& lock) noexcept { return (lock.state & set_bit) != 0; }
  static bool fits(const locked&, core::no_request) noexcept { return true; }
  static void take(locked& lock, core::no_request) noexcept { lock.state &= ~set_bit; }
  void give_back(core::no_request) noexcept { set(); }

  [[gnu::noinline]] void set_slow() noexcept {
    core::completion done;
    locked lock(*this);
    lock.state |= set_bit;
    core::admission::serve(*this, lock, done);  // I1
  }
};

}  // namespace weir
