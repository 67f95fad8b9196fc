#pragma once

// event: a flag that can be waited for.
//
// Who may call: any member from any thread at any time. The destructor may race tickets, timers and stop
// requests, but no member call.
// Order: set() and notify_all() tell the waiters in the order in which they came.
// Cancellation: a wait that gave up costs nothing but its place; an event has nothing to lose.
// Completions: each waiter goes on where it belongs (its executor, its own thread, or the flat loop of the
// thread that called set()), after set() has done all its work.

#include <cstddef>
#include <utility>

#include <weir/core/admission.hpp>
#include <weir/core/completion.hpp>
#include <weir/core/synchronizer.hpp>
#include <weir/wait/operation.hpp>

namespace weir {

/// state: locked, queued, closed (core/synchronizer.hpp) and
///   bit 3   set
/// Between locks: set, or any number queued, or neither. Never both (I1).
class event : public core::synchronizer {
 public:
  /// `set`: nobody waits until it is reset.
  event() noexcept : event(false) {}
  explicit event(bool set) noexcept : synchronizer(set ? set_bit : 0) {}

  /// Closes: whoever waits gets errc::closed.
  ~event() { shut(); }

  /// Lets every wait through, those now queued and all later ones, until reset().
  void set() noexcept {
    word seen = load();
    while ((seen & (locked_bit | queued_bit)) == 0) {  // nobody is there to be told
      if (advance(seen, seen | set_bit)) return;
    }
    set_slow();
  }

  /// From now on waits wait.
  void reset() noexcept {
    locked lock(*this);
    lock.state &= ~set_bit;
  }

  /// A reading, no lock.
  [[nodiscard]] bool is_set() const noexcept { return (load() & set_bit) != 0; }

  /// Wakes all that wait now and leaves the event as it is. How many.
  std::size_t notify_all() noexcept {
    core::completion done;
    locked lock(*this);
    return complete_all(lock, core::outcome::granted, done);
  }

  /// Wakes the first that waits now and leaves the event as it is. 0 or 1.
  std::size_t notify_one() noexcept {
    core::completion done;
    locked lock(*this);
    std::size_t woken = 0;
    serve<core::waiter>(lock, done, [&] { return woken == 0; }, anyone, [&](const auto&) { ++woken; });
    return woken;
  }

  /// Waits until it is set, or notified. Fails with errc::closed.
  using wait_op = core::admission::op<event, void>;
  auto wait() noexcept { return operation<wait_op>(wait_op(*this)); }

  /// In the way of a completion token of Asio's, with <weir/asio.hpp> or <weir/boost_asio.hpp>.
  template <class Token>
  decltype(auto) async_wait(Token&& token) {
    return wait()(std::forward<Token>(token));
  }

  /// For tests: what holds between any two calls.
  [[nodiscard]] bool check_invariants() noexcept {
    locked lock(*this);
    return (lock.state & set_bit) == 0 || waiting() == 0;  // I1
  }

 private:
  friend struct core::admission;
  using node = core::admission::node;

  static constexpr word set_bit = word{1} << own_shift;

  static core::outcome judge(word state) noexcept {
    if ((state & closed_bit) != 0) return core::outcome::closed;
    return (state & set_bit) != 0 ? core::outcome::granted : core::outcome::pending;
  }
  static core::outcome judge(const locked& lock, core::no_request) noexcept { return judge(lock.state); }
  [[nodiscard]] core::outcome take_now(core::no_request) const noexcept { return judge(load()); }
  static bool left(const locked& lock) noexcept { return (lock.state & set_bit) != 0; }
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
