#pragma once

// semaphore: a number of permits to be shared; a wait may ask for several at once.
//
// Who may call: any member from any thread at any time. The destructor may race tickets, timers and stop
// requests, but no member call.
// Order: strictly first come, first served, over all kinds of waiters. Nothing overtakes a queued waiter, not
// even try_acquire(); a large request at the head holds back smaller ones behind it.
// Cancellation: a wait that timed out, was stopped or cancelled has lost its place and nothing else; it has taken no
// permit, and those behind it that now fit are granted at once. One that was granted cannot be cancelled.
// Completions: a waiter goes on where it belongs (its executor, its own thread, or the flat loop of the thread that
// released), after release() has done all its work.

#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include <weir/core/admission.hpp>
#include <weir/core/assert.hpp>
#include <weir/core/atomic.hpp>
#include <weir/core/synchronizer.hpp>
#include <weir/wait/operation.hpp>

namespace weir {

class semaphore;

/// Permits that give themselves back. Move-only; empty after release() and forget().
class [[nodiscard(
    "a permit that is discarded is released at once: auto permit = co_await s.scoped_acquire();")]] permit {
 public:
  permit() noexcept = default;
  permit(permit&& from) noexcept
      : semaphore_(std::exchange(from.semaphore_, nullptr)), held_(std::exchange(from.held_, 0)) {}
  permit& operator=(permit&& from) noexcept {
    permit taken(std::move(from));
    std::swap(semaphore_, taken.semaphore_);
    std::swap(held_, taken.held_);
    return *this;
  }
  ~permit() { release(); }

  /// How many it holds; 0: it is empty, and false.
  [[nodiscard]] std::size_t count() const noexcept { return held_ & ~counted_bit; }
  explicit operator bool() const noexcept { return held_ != 0; }

  /// Gives them back now. It cannot fail: see semaphore::give_back for what happens past the maximum.
  inline void release() noexcept;

  /// Keeps them from being given back: the caller is responsible for them from now on.
  inline void forget() noexcept;

  /// Takes n of them out into a permit of their own. Throws std::invalid_argument if n is 0 or there are fewer.
  permit split(std::size_t n) {
    if (n == 0 || n > count()) {
      throw std::invalid_argument("weir::permit::split(" + std::to_string(n) + "): it holds " +
                                  std::to_string(count()));
    }
    if (n == count()) return std::move(*this);
    held_ -= n;
    return permit(*semaphore_, n);
  }

  /// Adds another permit's. Throws std::invalid_argument, and changes nothing, if it is of another semaphore.
  void merge(permit&& other) {
    if (this == &other || !other) return;
    if (held_ != 0 && other.semaphore_ != semaphore_) {
      throw std::invalid_argument("weir::permit::merge: the two permits, of " + std::to_string(count()) + " and " +
                                  std::to_string(other.count()) + ", are of different semaphores");
    }
    if (held_ == 0) {
      *this = std::move(other);
    } else {
      held_ += other.count();
      other.forget();
    }
  }

 private:
  friend class semaphore;
  inline permit(semaphore& from, std::size_t n) noexcept;

  // Set where its semaphore has counted it, which a debug build does: such a permit may go to code of another build.
  static constexpr std::size_t counted_bit = ~(std::numeric_limits<std::size_t>::max() >> 1);

  semaphore* semaphore_ = nullptr;
  std::size_t held_ = 0;  // how many permits, at most semaphore::max(), and counted_bit
};

/// state: locked, queued, closed (core/synchronizer.hpp) and
///   bit 3    in debt   reduce() still has to take debt_ permits out of the next releases
///   bits 4…  permits available, at most max_permits
///
/// I1  Available permits are never enough for the first undecided waiter in the queue.
/// I2  While in debt nothing is available.
/// I3  A permit is in one place: available, granted, or owed to nobody (reduced).
///
/// Why no wake-up is lost: a waiter queues under the lock, having seen under it that its permits are not there. Each
/// permit that comes later comes through release(), which meets the queued bit (or the lock, and waits for it) and
/// serves the queue under the lock; each waiter that leaves serves those behind it. So I1 holds at every unlocking.
class semaphore : public core::synchronizer {
 public:
  /// The most permits that a semaphore can have.
  static constexpr std::size_t max() noexcept { return std::numeric_limits<std::size_t>::max() >> permit_shift; }

  /// Throws std::invalid_argument if max_permits is 0 or above max(), or permits are more than that.
  explicit semaphore(std::size_t permits, std::size_t max_permits = max())
      : synchronizer(word{checked_start(permits, max_permits)} << permit_shift), max_permits_(max_permits) {}

  /// Closes: whoever waits gets errc::closed.
  ~semaphore() {
    shut();
    WEIR_ASSERT(scoped_ == 0, "a semaphore was destroyed while a permit of it was held");
  }

  template <class Value>
  using acquire_op = core::admission::op<semaphore, Value>;

  /// Waits for n permits and consumes them: anyone may release them. Fails with errc::closed.
  auto acquire(std::size_t n = 1) { return operation<acquire_op<void>>(acquire_op<void>(*this), checked_request(n)); }

  /// Waits for n permits that give themselves back.
  auto scoped_acquire(std::size_t n = 1) {
    return operation<acquire_op<permit>>(acquire_op<permit>(*this), checked_request(n));
  }

  /// In the way of a completion token of Asio's, with <weir/asio.hpp> or <weir/boost_asio.hpp>.
  template <class Token>
  decltype(auto) async_acquire(Token&& token) {
    return acquire()(std::forward<Token>(token));
  }
  template <class Token>
  decltype(auto) async_acquire(std::size_t n, Token&& token) {
    return acquire(n)(std::forward<Token>(token));
  }
  template <class Token>
  decltype(auto) async_scoped_acquire(Token&& token) {
    return scoped_acquire()(std::forward<Token>(token));
  }
  template <class Token>
  decltype(auto) async_scoped_acquire(std::size_t n, Token&& token) {
    return scoped_acquire(n)(std::forward<Token>(token));
  }

  /// Takes n permits if they are there and nobody waits. Throws std::invalid_argument as acquire does.
  bool try_acquire(std::size_t n = 1) {
    // who is in line may have given up
    return take_now(checked_request(n), locked_bit | queued_bit) == core::outcome::granted;
  }

  /// The same; an empty permit if not.
  permit try_scoped_acquire(std::size_t n = 1) { return try_acquire(n) ? permit(*this, n) : permit(); }

  /// Gives n permits and hands them to those who wait. Has taken effect when it returns, and never waits for
  /// anybody. Throws std::overflow_error, and changes nothing, if more than max_permits would be available.
  [[gnu::always_inline]] void release(std::size_t n = 1) {
    word seen = load();
    while ((seen & (locked_bit | queued_bit | debt_bit)) == 0 && n <= max_permits_ - available_in(seen)) {
      if (advance(seen, seen + permits(n))) return;
    }
    release_slow(n);
  }

  /// Takes n permits out of circulation: those that are available now, the rest from the next releases. Throws
  /// std::invalid_argument if more than max_permits would then be owed.
  void reduce(std::size_t n) {
    std::size_t owed = 0;
    {
      locked lock(*this);
      owed = debt_;
      const std::size_t now = lesser(n, available_in(lock.state));
      if (n - now <= max_permits_ - owed) {
        lock.state -= permits(now);
        debt_ += n - now;
        if (debt_ != 0) lock.state |= debt_bit;  // I2
        return;
      }
    }
    throw std::invalid_argument("weir::semaphore::reduce(" + std::to_string(n) + "): " + std::to_string(owed) +
                                " are owed already, of at most " + std::to_string(max_permits_));
  }

  /// One atomic load, no lock. While a large request waits, what it waits with counts.
  [[nodiscard]] std::size_t available() const noexcept { return available_in(load()); }

  /// For tests: what holds between any two calls.
  [[nodiscard]] bool check_invariants() noexcept {
    locked lock(*this);
    const bool in_debt = (lock.state & debt_bit) != 0;
    return !core::admission::first_fits(*this, lock)       // I1
           && in_debt == (debt_ != 0)                      //
           && (!in_debt || available_in(lock.state) == 0)  // I2
           && available_in(lock.state) <= max_permits_;
  }

 private:
  friend class permit;
  friend struct core::admission;

  static constexpr word debt_bit = word{1} << own_shift;
  static constexpr int permit_shift = own_shift + 1;

  struct node : core::waiter {
    explicit node(std::size_t wanted) noexcept : count(wanted) {}
    [[nodiscard]] std::size_t request() const noexcept { return count; }
    std::size_t count;
  };

  static constexpr word permits(std::size_t n) noexcept { return word{n} << permit_shift; }
  // Not std::min: <algorithm> costs 50 ms in each file that includes this one.
  static constexpr std::size_t lesser(std::size_t a, std::size_t b) noexcept { return a < b ? a : b; }
  static constexpr std::size_t available_in(word state) noexcept {
    return static_cast<std::size_t>(state >> permit_shift);
  }

  static std::size_t checked_start(std::size_t permits, std::size_t max_permits) {
    if (max_permits == 0 || max_permits > max() || permits > max_permits) [[unlikely]] {
      throw std::invalid_argument("weir::semaphore(" + std::to_string(permits) + ", " + std::to_string(max_permits) +
                                  "): max_permits must be from 1 to " + std::to_string(max()) +
                                  ", and permits at most max_permits");
    }
    return permits;
  }

  std::size_t checked_request(std::size_t n) const {
    if (n == 0 || n > max_permits_) [[unlikely]]
      refuse_request(n);
    return n;
  }

  [[noreturn, gnu::cold, gnu::noinline]] void refuse_request(std::size_t n) const {
    throw std::invalid_argument("weir::semaphore: " + std::to_string(n) + " permits can never be acquired: from 1 to " +
                                std::to_string(max_permits_) + " can");
  }

  /// The fast path of acquiring. Pending: not enough, or somebody is in line. Bits of `looks_closer` are for the slow
  /// way.
  core::outcome take_now(std::size_t n, word looks_closer = locked_bit) noexcept {
    word seen = load();
    for (;;) {
      if ((seen & looks_closer) != 0) return core::admission::take_locked(*this, n);
      if ((seen & closed_bit) != 0) return core::outcome::closed;
      if ((seen & queued_bit) != 0 || available_in(seen) < n) return core::outcome::pending;
      if (advance(seen, seen - permits(n))) return core::outcome::granted;
    }
  }

  core::outcome judge(locked& lock, std::size_t n) noexcept {
    if (lock.closed()) return core::outcome::closed;
    return fits(lock, n) && !anybody_waits(lock) ? core::outcome::granted : core::outcome::pending;
  }

  static bool left(const locked& lock) noexcept { return available_in(lock.state) != 0; }
  static bool fits(const locked& lock, std::size_t n) noexcept { return n <= available_in(lock.state); }
  static void take(locked& lock, std::size_t n) noexcept { lock.state -= permits(n); }

  template <class Permit>
  Permit hold(std::size_t n) noexcept {
    return Permit(*this, n);
  }

  [[gnu::noinline]] void release_slow(std::size_t n) {
    std::size_t available = 0;
    {
      core::completion done;
      locked lock(*this);
      available = available_in(lock.state);
      if (n - lesser(n, debt_) <= max_permits_ - available) {
        give(lock, n, done);
        return;
      }
    }
    throw std::overflow_error("weir::semaphore::release(" + std::to_string(n) + "): " + std::to_string(available) +
                              " are available, of at most " + std::to_string(max_permits_));
  }

  /// For permits that had been taken and were not used up, which cannot fail. They are too many only if somebody has
  /// released in their stead: those that do not fit are dropped.
  void give_back(std::size_t n) noexcept {
    core::completion done;
    locked lock(*this);
    give(lock, lesser(n, debt_ + (max_permits_ - available_in(lock.state))), done);
  }

  /// What is owed is paid first.
  void give(locked& lock, std::size_t n, core::completion& done) noexcept {
    const std::size_t paid = lesser(n, debt_);
    debt_ -= paid;
    if (debt_ == 0) lock.state &= ~debt_bit;
    lock.state += permits(n - paid);
    core::admission::serve(*this, lock, done);  // I1
  }

  void count_scoped(std::ptrdiff_t change) noexcept {
    scoped_.fetch_add(change, std::memory_order_relaxed);  // relaxed: read by the destructor, after all else
  }

  const std::size_t max_permits_;
  std::size_t debt_ = 0;                        // under the lock
  platform::atomic<std::ptrdiff_t> scoped_{0};  // permit objects that are counted and alive
};

inline permit::permit(semaphore& from, std::size_t n) noexcept : semaphore_(&from), held_(n) {
#if !defined(NDEBUG)
  held_ |= counted_bit;
  from.count_scoped(+1);
#endif
}

inline void permit::release() noexcept {
  if (held_ == 0) return;
  semaphore& from = *semaphore_;
  const std::size_t n = count();
  forget();
  from.give_back(n);
}

inline void permit::forget() noexcept {
  if ((held_ & counted_bit) != 0) semaphore_->count_scoped(-1);
  semaphore_ = nullptr;
  held_ = 0;
}

}  // namespace weir
