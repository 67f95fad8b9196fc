#pragma once

// wait_group: counts what is under way, and waits until nothing is. Unlike a latch, it counts up too and is reusable.
//
// Who may call: every member may be called from any thread at any time. The destructor may run concurrently with
// tickets, timers and stop requests, but not with a member call.
// Order: the last done() notifies the waiters in FIFO order.
// Cancellation: a wait that gave up has lost nothing but its place; waiting does not change the count.
// Completions: each waiter resumes on its executor, its own thread, or the flat loop of the thread that called the last
// done(), after done() has done all its work. By then more may have been added.

#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include <weir/core/admission.hpp>
#include <weir/core/completion.hpp>
#include <weir/core/synchronizer.hpp>
#include <weir/wait/operation.hpp>

namespace weir {

/// state: locked, queued, closed (core/synchronizer.hpp) and
///   bits 3…   how many are not done yet
///
/// I1  While the count is 0, no undecided waiter is queued.
///
/// Why no wake-up is lost: a waiter queues under the lock, after it has seen there that the count is not 0. The done()
/// that brings it to 0 sees the queued bit (or waits for the lock) and completes the whole queue under the lock.
class wait_group : public core::synchronizer {
 public:
  /// Returns the most that can be under way at once.
  static constexpr std::size_t max() noexcept { return std::numeric_limits<std::size_t>::max() >> own_shift; }

  wait_group() noexcept : synchronizer(0) {}

  /// Closes the group: every waiter gets errc::closed.
  ~wait_group() { shut(); }

  /// Adds k. Throws std::overflow_error, and changes nothing, if the count would exceed max(). A closed group still
  /// counts.
  void add(std::size_t k = 1) { begin(k); }

  /// Subtracts one. Throws std::invalid_argument, and changes nothing, if the count is 0.
  void done() {
    core::completion told;
    end(told);
  }

  /// Returns how many are not done yet: a snapshot, taken without the lock.
  [[nodiscard]] std::size_t count() const noexcept { return count_in(load()); }

  /// The operation that wait() returns.
  using wait_op = core::admission::op<wait_group, void>;

  /// Waits until the count is 0. Fails with errc::closed.
  auto wait() noexcept { return operation<wait_op>(wait_op(*this)); }

  /// The Asio spelling: wait()(token). Needs <weir/asio.hpp> or <weir/boost_asio.hpp>.
  template <class Token>
  decltype(auto) async_wait(Token&& token) {
    return wait()(std::forward<Token>(token));
  }

  /// Checks the invariants, which hold between any two calls. For tests.
  [[nodiscard]] bool check_invariants() noexcept {
    locked lock(*this);
    return count_in(lock.state) != 0 || !anybody_waits(lock);  // I1
  }

 protected:
  /// add() and done() that report the edge: begin() returns true if the count was 0, end() if it becomes 0.
  bool begin(std::size_t k = 1) {
    word seen = load();
    while ((seen & locked_bit) == 0 && k <= max() - count_in(seen)) {
      if (advance(seen, seen + counts(k))) return count_in(seen) == 0;
    }
    return begin_slow(k);
  }
  bool end(core::completion& told) {
    word seen = load();  // the last one takes the slow path if a waiter is queued
    while ((seen & locked_bit) == 0 && count_in(seen) > ((seen & queued_bit) != 0 ? 1 : 0)) {
      if (advance(seen, seen - counts(1))) return count_in(seen) == 1;
    }
    return end_slow(told);
  }

 private:
  friend struct core::admission;
  using node = core::waiter;

  static core::outcome judge(word state) noexcept {
    if ((state & closed_bit) != 0) return core::outcome::closed;
    return count_in(state) == 0 ? core::outcome::granted : core::outcome::pending;
  }
  static core::outcome judge(const locked& lock, core::no_request) noexcept { return judge(lock.state); }
  [[nodiscard]] core::outcome take_now(core::no_request) const noexcept { return judge(load()); }
  static bool anything_left(const locked& lock) noexcept { return count_in(lock.state) == 0; }
  static bool fits(const locked&, core::no_request) noexcept { return true; }
  static void take(const locked&, core::no_request) noexcept {}
  static void give_back(core::no_request) noexcept {}

  static constexpr word counts(std::size_t n) noexcept { return word{n} << own_shift; }
  static constexpr std::size_t count_in(word state) noexcept { return static_cast<std::size_t>(state >> own_shift); }

  [[gnu::noinline]] bool begin_slow(std::size_t k) {
    std::size_t count = 0;
    {
      locked lock(*this);
      count = count_in(lock.state);
      if (k <= max() - count) {
        lock.state += counts(k);
        return count == 0;
      }
    }
    throw std::overflow_error("weir::wait_group::add(" + std::to_string(k) + "): " + std::to_string(count) +
                              " are not done yet, of at most " + std::to_string(max()));
  }

  [[gnu::noinline]] bool end_slow(core::completion& told) {
    {
      locked lock(*this);
      if (count_in(lock.state) != 0) {
        lock.state -= counts(1);
        const bool last = count_in(lock.state) == 0;
        core::admission::serve(*this, lock, told);  // I1
        return last;
      }
    }
    throw std::invalid_argument("weir::wait_group::done(): 0 are not done yet: done() was called without add()");
  }
};

}  // namespace weir
