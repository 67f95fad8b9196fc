#pragma once

// latch: counts down to 0 once, and stays open from then on.
//
// Who may call: every member may be called from any thread at any time. The destructor may run concurrently with
// tickets, timers and stop requests, but not with a member call or the start of a wait: destroy it only after every
// participant has been notified.
// Order: the last count notifies the waiters in FIFO order.
// Cancellation: a wait that gave up has lost nothing but its place. An arrival counts when its wait is started, and
// stays counted if that wait then gives up, loses a select or finds the latch closed.
// Completions: each waiter resumes on its executor, its own thread, or the flat loop of the thread that counted down
// last, after that call has done all its work.

#include <cstddef>
#include <exception>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include <weir/core/completion.hpp>
#include <weir/core/operation.hpp>
#include <weir/core/result.hpp>
#include <weir/core/synchronizer.hpp>
#include <weir/wait/operation.hpp>

namespace weir {

/// state: locked, queued, closed (core/synchronizer.hpp) and
///   bits 3…   how many are left; 0: open
///
/// I1  While it is open, no undecided waiter is queued.
///
/// Why no wake-up is lost: a waiter queues under the lock, after it has seen there that the latch is not open. The
/// count that opens it sees the queued bit (or waits for the lock) and completes the whole queue under the lock.
class latch : public core::synchronizer {
 public:
  /// Returns the greatest count of a latch.
  static constexpr std::size_t max() noexcept { return std::numeric_limits<std::size_t>::max() >> own_shift; }

  /// Creates a latch with a count of n; with 0 it is open at once. Throws std::invalid_argument if n is above max().
  explicit latch(std::size_t n) : synchronizer(counts(checked_start(n))) {}

  /// Closes the latch: every waiter gets errc::closed.
  ~latch() { shut(); }

  /// Counts k down. Throws std::invalid_argument, and changes nothing, if k is 0 or more than is left. A closed latch
  /// still counts.
  void count_down(std::size_t k = 1) {
    if (k == 0) throw std::invalid_argument(refusal("count_down", 0, 0));
    std::size_t left = 0;
    {
      core::completion done;
      left = left_in(count(k, done));
    }
    if (left < k) throw std::invalid_argument(refusal("count_down", k, left));
  }

  /// Returns whether it is open and not closed. Never waits.
  [[nodiscard]] bool try_wait() const noexcept { return judge(load()) == core::outcome::granted; }

  /// Waits until it is open. Fails with errc::closed.
  auto wait() noexcept { return operation<wait_op>(wait_op(*this), std::size_t{0}); }

  /// Counts k down when it is started, then waits until it is open. Fails with errc::closed; fails with
  /// std::invalid_argument, and changes nothing, if k is more than is left. Throws the latter at the call if k is 0.
  auto arrive_and_wait(std::size_t k = 1) {
    if (k == 0) throw std::invalid_argument(refusal("arrive_and_wait", 0, 0));
    return operation<wait_op>(wait_op(*this), k);
  }

  /// The Asio spelling: wait()(token). Needs <weir/asio.hpp> or <weir/boost_asio.hpp>.
  template <class Token>
  decltype(auto) async_wait(Token&& token) {
    return wait()(std::forward<Token>(token));
  }
  template <class Token>
  decltype(auto) async_arrive_and_wait(Token&& token) {
    return arrive_and_wait()(std::forward<Token>(token));
  }
  template <class Token>
  decltype(auto) async_arrive_and_wait(std::size_t k, Token&& token) {
    return arrive_and_wait(k)(std::forward<Token>(token));
  }

  /// Checks the invariants, which hold between any two calls. For tests.
  [[nodiscard]] bool check_invariants() noexcept {
    locked lock(*this);
    return left_in(lock.state) != 0 || !anybody_waits(lock);  // I1
  }

  class wait_op {
   public:
    using value_type = void;

    struct node : core::waiter {
      explicit node(std::size_t k) noexcept : arrives_with(k) {}
      std::size_t arrives_with;  // 0: it has arrived, or only waits
      std::size_t refused = 0;   // its k, if that was more than was left
      std::size_t left = 0;      // what was left then
    };

    explicit wait_op(latch& waited) noexcept : latch_(&waited) {}

    /// Arrives here, so that a wait with a limit of zero counts too.
    core::answer try_now(node& asking) noexcept {
      core::completion done;
      return arrive(asking, done);
    }

    core::answer start(node& starting, core::completion& done) noexcept {
      const core::answer arrived = arrive(starting, done);
      if (arrived != core::answer::not_ready) return arrived;
      locked lock(*latch_);
      const core::outcome verdict = judge(lock.state);
      return verdict == core::outcome::pending ? latch_->enqueue(lock, starting) : starting.decide(verdict);
    }

    bool withdraw(node& queued, core::completion&) noexcept {
      locked lock(*latch_);
      return latch_->unlink(lock, queued);  // leaving frees nothing for the waiters behind
    }

    void give_back(node&) noexcept {}  // the arrival stays counted

    result<> take(node& told) {
      if (told.refused == 0) return {};
      return result<>::failure(
          std::make_exception_ptr(std::invalid_argument(refusal("arrive_and_wait", told.refused, told.left))));
    }

   private:
    /// Arrives at most once. Judges by the state that the arrival saw: the waiters that it grants may destroy the latch
    /// once `done` notifies them.
    core::answer arrive(node& arriving, core::completion& done) noexcept {
      const std::size_t k = std::exchange(arriving.arrives_with, 0);
      const word before = k == 0 ? latch_->load() : latch_->count(k, done);
      const std::size_t left = left_in(before);
      if ((before & closed_bit) != 0) return arriving.decide(core::outcome::closed);
      if (left < k) {
        arriving.refused = k;
        arriving.left = left;
      } else if (left > k) {
        return core::answer::not_ready;
      }
      return arriving.decide(core::outcome::granted);
    }

    latch* latch_;
  };

 private:
  static constexpr word counts(std::size_t n) noexcept { return word{n} << own_shift; }
  static constexpr std::size_t left_in(word state) noexcept { return static_cast<std::size_t>(state >> own_shift); }

  static core::outcome judge(word state) noexcept {
    if ((state & closed_bit) != 0) return core::outcome::closed;
    return left_in(state) == 0 ? core::outcome::granted : core::outcome::pending;
  }

  static std::size_t checked_start(std::size_t n) {
    if (n > max()) {
      throw std::invalid_argument("weir::latch(" + std::to_string(n) + "): at most " + std::to_string(max()) +
                                  " can be counted");
    }
    return n;
  }

  static std::string refusal(const char* call, std::size_t k, std::size_t left) {
    return "weir::latch::" + std::string(call) + "(" + std::to_string(k) + "): " +
           (k == 0 ? "at least 1 has to be counted down"
                   : "only " + std::to_string(left) + (left == 1 ? " is left" : " are left"));
  }

  /// Counts k down, unless fewer are left. Returns the state before.
  word count(std::size_t k, core::completion& done) noexcept {
    word seen = load();
    while ((seen & locked_bit) == 0) {
      if (left_in(seen) < k) return seen;
      if (left_in(seen) == k && (seen & queued_bit) != 0) break;
      if (advance(seen, seen - counts(k))) return seen;
    }
    return count_slow(k, done);
  }

  [[gnu::noinline]] word count_slow(std::size_t k, core::completion& done) noexcept {
    locked lock(*this);
    const word before = lock.state;
    if (left_in(before) < k) return before;
    lock.state -= counts(k);
    if (left_in(before) == k) complete_all(lock, core::outcome::granted, done);  // I1
    return before;
  }
};

}  // namespace weir
