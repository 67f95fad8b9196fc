#pragma once

// event: a flag that can be waited for.
//
// Who may call: every member may be called from any thread at any time. The destructor may run concurrently with
// tickets, timers and stop requests, but not with a member call.
// Order: set() and notify_all() notify the waiters in FIFO order.
// Cancellation: a wait that gave up has lost its place; an event has nothing else to lose.
// Completions: each waiter resumes on its executor, its own thread, or the flat loop of the thread that called set(),
// after set() has done all its work.

#include <cstddef>
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
class event : public core::synchronizer {
 public:
  /// Creates the event. If `set` is true, no wait has to queue until reset().
  event() noexcept : event(false) {}
  explicit event(bool set) noexcept : synchronizer(set ? set_bit : 0) {}

  /// Closes the event: every waiter gets errc::closed.
  ~event() { shut(); }

  /// Grants every wait, the queued ones and all later ones, until reset().
  void set() noexcept {
    word seen = load();
    while ((seen & (locked_bit | queued_bit)) == 0) {  // no waiter is queued
      if (advance(seen, seen | set_bit)) return;
    }
    set_slow();
  }

  /// Resets the flag: later waits have to wait.
  void reset() noexcept {
    locked lock(*this);
    lock.state &= ~set_bit;
  }

  /// Returns a snapshot, taken without the lock.
  [[nodiscard]] bool is_set() const noexcept { return (load() & set_bit) != 0; }

  /// Grants all queued waits and leaves the flag unchanged. Returns how many.
  std::size_t notify_all() noexcept {
    core::completion done;
    locked lock(*this);
    return complete_all(lock, core::outcome::granted, done);
  }

  /// Grants the first queued wait and leaves the flag unchanged. Returns 0 or 1.
  std::size_t notify_one() noexcept {
    core::completion done;
    locked lock(*this);
    std::size_t woken = 0;
    serve<core::waiter>(lock, done, [&] { return woken == 0; }, core::anyone, [&](const auto&) { ++woken; });
    return woken;
  }

  /// The operation that wait() returns.
  using wait_op = core::admission::op<event, void>;

  /// Waits until it is set or notified. Fails with errc::closed.
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

  static core::outcome judge(word state) noexcept {
    if ((state & closed_bit) != 0) return core::outcome::closed;
    return (state & set_bit) != 0 ? core::outcome::granted : core::outcome::pending;
  }
  static core::outcome judge(const locked& lock, core::no_request) noexcept { return judge(lock.state); }
  [[nodiscard]] core::outcome take_now(core::no_request) const noexcept { return judge(load()); }
  static bool anything_left(const locked& lock) noexcept { return (lock.state & set_bit) != 0; }
  static bool fits(const locked&, core::no_request) noexcept { return true; }
  static void take(const locked&, core::no_request) noexcept {}  // it stays set
  static void give_back(core::no_request) noexcept {}

  [[gnu::noinline]] void set_slow() noexcept {
    core::completion done;
    locked lock(*this);
    lock.state |= set_bit;
    core::admission::serve(*this, lock, done);  // I1
  }
};

}  // namespace weir
