#pragma once

// mutex: mutual exclusion across co_await. Unlocking passes it directly to the first waiter.
//
//     weir::mutex m;
//     auto guard = co_await m.scoped_lock();  // unlocks when `guard` is destroyed
//     co_await save(account);                 // the mutex stays locked
//
// Who may call: every member may be called from any thread at any time; a task or thread other than the owner may
// unlock. The destructor may run concurrently with tickets, timers and stop requests, but not with a member call.
// Order: FIFO over all kinds of waiters; try_lock() does not overtake.
// Cancellation: a wait that gave up has lost its place and holds nothing. A granted wait cannot be cancelled.
// Completions: the next owner resumes on its executor, its own thread, or the flat loop of the thread that unlocked,
// after unlock() has done all its work.
//
// A second lock by the owner is an error, not a deadlock: where the owner is known (a chain of weir::tasks, a thread in
// wait()), it fails with errc::would_deadlock.

#include <mutex>
#include <system_error>
#include <utility>

#include <weir/core/admission.hpp>
#include <weir/core/assert.hpp>
#include <weir/core/atomic.hpp>
#include <weir/core/context.hpp>
#include <weir/core/guard.hpp>
#include <weir/core/std_locks.hpp>
#include <weir/core/synchronizer.hpp>
#include <weir/wait/operation.hpp>

namespace weir {

class mutex;
template <>
inline constexpr bool core::locks_by_operation<mutex> = true;

/// state: locked, queued, closed (core/synchronizer.hpp) and
///   bit 3   held
///
/// I1  Between critical sections, undecided waiters are queued only while it is held: unlock() passes it on instead of
///     freeing it.
/// I2  owner_ is empty unless it is held. Only the party that holds it, or passes it on, writes owner_.
///
/// Why reading owner_ without the lock is enough: it equals the caller only if the caller's own chain or thread wrote
/// it, or was granted the mutex with it, and has not unlocked since. All of that happened before the read.
class mutex : public core::synchronizer {
 public:
  mutex() noexcept : synchronizer(0) {}

  /// Closes the mutex: every waiter gets errc::closed.
  ~mutex() {
    shut();
    WEIR_ASSERT(!locked(), "a mutex was destroyed while it was locked");
  }

  /// A guard that holds one lock and unlocks when it is destroyed.
  using guard = core::basic_guard<mutex>;

  /// The operation of lock() and scoped_lock().
  template <class Value>
  using lock_op = core::admission::op<mutex, Value>;

  /// Waits for the mutex. Fails with errc::closed, or with errc::would_deadlock if the owner calls it.
  auto lock() noexcept { return operation<lock_op<void>>(lock_op<void>(*this)); }

  /// Waits for the mutex and yields a guard that unlocks it.
  auto scoped_lock() noexcept { return operation<lock_op<guard>>(lock_op<guard>(*this)); }

  /// The Asio spelling: lock()(token). Needs <weir/asio.hpp> or <weir/boost_asio.hpp>.
  template <class Token>
  decltype(auto) async_lock(Token&& token) {
    return lock()(std::forward<Token>(token));
  }
  template <class Token>
  decltype(auto) async_scoped_lock(Token&& token) {
    return scoped_lock()(std::forward<Token>(token));
  }

  /// Takes it if it is free and no waiter is queued. Records no owner.
  bool try_lock() noexcept { return take_now({}) == core::outcome::granted; }

  /// Does the same; returns an empty guard on failure.
  guard try_scoped_lock() noexcept { return try_lock() ? guard(*this, std::adopt_lock) : guard(); }

  /// Passes it to the first waiter, else frees it. Throws std::system_error(errc::not_owner) if it is not locked.
  [[gnu::always_inline]] void unlock() {
    set_owner({});  // I2
    word seen = held_bit;
    if (!advance(seen, 0)) unlock_slow();
  }

  /// Returns a snapshot, taken without the lock.
  [[nodiscard]] bool locked() const noexcept { return (load() & held_bit) != 0; }

  /// Checks the invariants, which hold between any two calls. For tests.
  [[nodiscard]] bool check_invariants() noexcept {
    critical_section lock(*this);
    return is_held(lock) || (!anybody_waits(lock) && !owner());  // I1, I2
  }

 private:
  friend struct core::admission;
  friend guard;

  static constexpr const char* class_name = "weir::mutex";
  static constexpr word held_bit = word{1} << own_shift;

  struct node : core::waiter {
    void enter(core::context& where) noexcept { owner = where.owner(); }
    [[nodiscard]] owner_id request() const noexcept { return owner; }
    owner_id owner;
  };

  static bool is_held(const critical_section& lock) noexcept { return (lock.state & held_bit) != 0; }

  // relaxed: see the class
  [[nodiscard]] owner_id owner() const noexcept { return owner_.load(std::memory_order_relaxed); }
  void set_owner(owner_id who) noexcept { owner_.store(who, std::memory_order_relaxed); }  // relaxed: see the class

  core::outcome take_now(owner_id who) noexcept {
    word seen = 0;
    if (advance(seen, held_bit)) {
      set_owner(who);
      return core::outcome::granted;
    }
    const bool plainly_held = (seen & (locked_bit | closed_bit | held_bit)) == held_bit;
    return plainly_held && !(who && who == owner()) ? core::outcome::pending : core::admission::take_locked(*this, who);
  }

  core::outcome judge(const critical_section& lock, owner_id who) const noexcept {
    if (lock.closed()) return core::outcome::closed;
    if (!is_held(lock)) return core::outcome::granted;  // I1
    return who && who == owner() ? core::outcome::would_deadlock : core::outcome::pending;
  }

  void take(critical_section& lock, owner_id who) noexcept {
    lock.state |= held_bit;
    set_owner(who);
  }

  static bool anything_left(const critical_section& lock) noexcept { return !is_held(lock); }
  static bool fits(const critical_section&, owner_id) noexcept { return true; }
  void give_back(owner_id) noexcept { unlock(); }
  template <class Guard>
  Guard hold(owner_id) noexcept {
    return Guard(*this, std::adopt_lock);
  }
  void disown() noexcept { set_owner({}); }

  [[gnu::noinline]] void unlock_slow() {
    if (!pass_on()) throw std::system_error(make_error_code(errc::not_owner), "weir::mutex::unlock");
  }

  /// Returns false if it was not locked.
  bool pass_on() noexcept {
    core::completion done;
    critical_section lock(*this);
    if (!is_held(lock)) return false;
    lock.state &= ~held_bit;
    core::admission::serve(*this, lock, done);
    return true;
  }

  platform::atomic<owner_id> owner_{owner_id()};
};

}  // namespace weir
