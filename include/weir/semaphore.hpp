#pragma once

// semaphore: a number of permits; a wait may ask for several at once.
//
//     weir::semaphore connections(8);
//     auto permit = co_await connections.scoped_acquire();  // released when `permit` is destroyed
//     co_await connections.acquire(2).within(50ms);         // to be released: connections.release(2)
//
// Who may call: every member may be called from any thread at any time. The destructor may run concurrently with
// tickets, timers and stop requests, but not with a member call.
// Order: FIFO over all kinds of waiters. Nothing overtakes a queued waiter, not even try_acquire(); a large request at
// the head holds back the smaller ones behind it.
// Cancellation: a wait that gave up has lost its place and nothing else. It has taken no permit, and the waiters behind
// it that fit now are granted at once. A granted wait cannot be cancelled.
// Completions: a waiter resumes on its executor, its own thread, or the flat loop of the thread that released, after
// release() has done all its work.

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

/// Holds permits and releases them when it is destroyed. Move-only; empty after release() and forget().
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

  /// Returns how many it holds. 0: it is empty, and converts to false.
  [[nodiscard]] std::size_t count() const noexcept { return held_ & ~counted_bit; }
  explicit operator bool() const noexcept { return held_ != 0; }

  /// Releases them now. It cannot fail: permits above the maximum are dropped (semaphore::give_back).
  inline void release() noexcept;

  /// Empties it without releasing: the caller is responsible for the permits from now on.
  inline void forget() noexcept;

  /// Moves n of them into a permit of their own. Throws std::invalid_argument if n is 0 or there are fewer.
  permit split(std::size_t n) {
    if (n == 0 || n > count()) {
      throw std::invalid_argument("weir::permit::split(" + std::to_string(n) + "): it holds " +
                                  std::to_string(count()));
    }
    if (n == count()) return std::move(*this);
    held_ -= n;
    return permit(*semaphore_, n);
  }

  /// Adds the permits of `other`. Throws std::invalid_argument, and changes nothing, if they belong to another
  /// semaphore.
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

  // Set if the semaphore has counted this permit, as a debug build does. It is stored here because code of another
  // build may release the permit.
  static constexpr std::size_t counted_bit = ~(std::numeric_limits<std::size_t>::max() >> 1);

  semaphore* semaphore_ = nullptr;
  std::size_t held_ = 0;  // number of permits, at most semaphore::max(), and counted_bit
};

/// state: locked, queued, closed (core/synchronizer.hpp) and
///   bit 3    in debt   reduce() still has to take debt_ permits out of the next releases
///   bits 4…  permits available, at most max_permits
///
/// I1  Available permits are never enough for the first undecided waiter in the queue.
/// I2  While in debt, nothing is available.
/// I3  A permit is in one place: available, granted, or out of circulation (reduced).
///
/// Why no wake-up is lost: a waiter queues under the lock, after it has seen there that its permits are not available.
/// Every later permit comes through release(), which sees the queued bit (or waits for the lock) and serves the queue
/// under the lock; every waiter that withdraws serves those behind it. So I1 holds at every unlocking.
class semaphore : public core::synchronizer {
 public:
  /// Returns the most permits that a semaphore can have.
  static constexpr std::size_t max() noexcept { return std::numeric_limits<std::size_t>::max() >> permit_shift; }

  /// Throws std::invalid_argument if max_permits is 0 or above max(), or if permits is above max_permits.
  explicit semaphore(std::size_t permits, std::size_t max_permits = max())
      : synchronizer(word{checked_start(permits, max_permits)} << permit_shift), max_permits_(max_permits) {}

  /// Closes the semaphore: every waiter gets errc::closed.
  ~semaphore() {
    shut();
    WEIR_ASSERT(scoped_ == 0, "a semaphore was destroyed while a permit of it was held");
  }

  /// The operation of acquire() and scoped_acquire().
  template <class Value>
  using acquire_op = core::admission::op<semaphore, Value>;

  /// Waits for n permits and consumes them: any task or thread may release them. Fails with errc::closed. Throws
  /// std::invalid_argument if n is 0 or above max_permits.
  auto acquire(std::size_t n = 1) { return operation<acquire_op<void>>(acquire_op<void>(*this), checked_request(n)); }

  /// Waits for n permits and yields a permit that releases them.
  auto scoped_acquire(std::size_t n = 1) {
    return operation<acquire_op<permit>>(acquire_op<permit>(*this), checked_request(n));
  }

  /// The Asio spelling: acquire()(token). Needs <weir/asio.hpp> or <weir/boost_asio.hpp>.
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

  /// Takes n permits if they are available and no waiter is queued. Throws std::invalid_argument as acquire() does.
  bool try_acquire(std::size_t n = 1) {
    // queued_bit: the slow path looks closer, because the queued waiters may have given up
    return take_now(checked_request(n), locked_bit | queued_bit) == core::outcome::granted;
  }

  /// Does the same; returns an empty permit on failure.
  permit try_scoped_acquire(std::size_t n = 1) { return try_acquire(n) ? permit(*this, n) : permit(); }

  /// Releases n permits and grants them to the waiters. It has taken effect when it returns, and never waits. Throws
  /// std::overflow_error, and changes nothing, if more than max_permits would be available.
  [[gnu::always_inline]] void release(std::size_t n = 1) {
    word seen = load();
    while ((seen & (locked_bit | queued_bit | debt_bit)) == 0 && n <= max_permits_ - available_in(seen)) {
      if (advance(seen, seen + permits(n))) return;
    }
    release_slow(n);
  }

  /// Takes n permits out of circulation: first the available ones, the rest from the next releases. Throws
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

  /// Returns the available permits, by one atomic load. Permits that are too few for the request at the head count too.
  [[nodiscard]] std::size_t available() const noexcept { return available_in(load()); }

  /// Checks the invariants, which hold between any two calls. For tests.
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

  /// The fast path of acquire(). Pending: too few permits, or the queue is not empty. A state with a bit of
  /// `looks_closer` takes the slow path.
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

  static bool anything_left(const locked& lock) noexcept { return available_in(lock.state) != 0; }
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

  /// Returns permits that were taken and not consumed; it cannot fail. They exceed the maximum only if other code has
  /// released in their place: those that do not fit are dropped.
  void give_back(std::size_t n) noexcept {
    core::completion done;
    locked lock(*this);
    give(lock, lesser(n, debt_ + (max_permits_ - available_in(lock.state))), done);
  }

  /// Adds n permits. A debt is paid first.
  void give(locked& lock, std::size_t n, core::completion& done) noexcept {
    const std::size_t paid = lesser(n, debt_);
    debt_ -= paid;
    if (debt_ == 0) lock.state &= ~debt_bit;
    lock.state += permits(n - paid);
    core::admission::serve(*this, lock, done);  // I1
  }

  void count_scoped(std::ptrdiff_t change) noexcept {
    scoped_.fetch_add(change, std::memory_order_relaxed);  // relaxed: read only by the destructor, after all else
  }

  const std::size_t max_permits_;
  std::size_t debt_ = 0;                        // under the lock
  platform::atomic<std::ptrdiff_t> scoped_{0};  // live permit objects that were counted
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
