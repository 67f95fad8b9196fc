#pragma once

// auto_reset_event: a flag that lets one wait through each time it is set, and is reset by that.
//
// Who may call: any member from any thread at any time. The destructor may race tickets, timers and stop
// requests, but no member call.
// Order: first come, first served: a set() goes directly to the first that waits.
// Cancellation: a wait that gave up has lost its place and has used up no set(). One that was granted cannot be
// cancelled; a grant that could not be delivered sets the event again, for the next that waits.
// Completions: a waiter goes on where it belongs (its executor, its own thread, or the flat loop of the thread that
// called set()), after set() has done all its work.

#include <utility>

#include <weir/core/admission.hpp>
#include <weir/core/completion.hpp>
#include <weir/core/synchronizer.hpp>
#include <weir/wait/operation.hpp>

namespace weir {

/// state: locked, queued, closed (core/synchronizer.hpp) and
///   bit 3   set
///
/// I1  While it is set nobody undecided is queued.
///
/// Why no wake-up is lost: a waiter queues under the lock, having seen under it that the event is not set. A set() that
/// comes later meets the queued bit (or the lock, and waits for it) and goes under the lock to the first that is
/// undecided. One that withdraws was decided before, so no set() has gone to it.
class auto_reset_event : public core::synchronizer {
 public:
  /// `set`: one wait gets through at once.
  auto_reset_event() noexcept : auto_reset_event(false) {}
  explicit auto_reset_event(bool set) noexcept : synchronizer(set ? set_bit : 0) {}

  /// Closes: whoever waits gets errc::closed.
  ~auto_reset_event() { shut(); }

  /// Lets exactly one wait through: the first that is queued, else the next that comes. Sets do not add up.
  void set() noexcept {
    word seen = load();
    while ((seen & (locked_bit | queued_bit)) == 0) {
      if (advance(seen, seen | set_bit)) return;  // also if it is set: what was done before is published (G10)
    }
    set_slow();
  }

  /// Takes back a set that nobody has used.
  void reset() noexcept {
    locked lock(*this);
    lock.state &= ~set_bit;
  }

  /// A reading, no lock.
  [[nodiscard]] bool is_set() const noexcept { return (load() & set_bit) != 0; }

  /// Waits until it is set, and resets it. Fails with errc::closed.
  using wait_op = core::admission::op<auto_reset_event, void>;
  auto wait() noexcept { return operation<wait_op>(wait_op(*this)); }

  /// In the way of a completion token of Asio's, with <weir/asio.hpp> or <weir/boost_asio.hpp>.
  template <class Token>
  decltype(auto) async_wait(Token&& token) {
    return wait()(std::forward<Token>(token));
  }

  /// For tests: what holds between any two calls.
  [[nodiscard]] bool check_invariants() noexcept {
    locked lock(*this);
    return (lock.state & set_bit) == 0 || !anybody_waits(lock);  // I1
  }

 private:
  friend struct core::admission;
  using node = core::admission::node;

  static constexpr word set_bit = word{1} << own_shift;

  /// By I1 a newcomer that finds it set overtakes nobody.
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

  static bool left(const locked& lock) noexcept { return (lock.state & set_bit) != 0; }
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
