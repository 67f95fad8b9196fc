#pragma once

// recursive_mutex: a mutex that its owner may lock again, and then has to unlock as often.
//
// Who may call: every member may be called from any thread at any time; unlock() does not check its caller. The
// destructor may run concurrently with tickets, timers and stop requests, but not with a member call.
// Order: FIFO over all kinds of waiters; try_lock() does not overtake. Only the owner, locking again, does not queue. A
// queued wait keeps its place even if the mutex is granted to an earlier wait with the same owner; if it is directly
// behind that wait, both are granted together.
// Cancellation: a wait that gave up has lost its place and holds nothing. A granted wait cannot be cancelled.
// Completions: the next owner resumes on its executor, its own thread, or the flat loop of the thread that unlocked,
// after the last unlock() has done all its work.
//
// The owner is the chain of weir::tasks or the thread in wait(), or is named: lock(owner_id), for coroutine types that
// weir cannot see into. If neither is known, the lock has no owner and cannot be locked again.

#include <mutex>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <weir/core/admission.hpp>
#include <weir/core/assert.hpp>
#include <weir/core/context.hpp>
#include <weir/core/guard.hpp>
#include <weir/core/std_locks.hpp>
#include <weir/core/synchronizer.hpp>
#include <weir/wait/operation.hpp>

namespace weir {

class recursive_mutex;
template <>
inline constexpr bool core::locks_by_operation<recursive_mutex> = true;

/// state: locked, queued, closed (core/synchronizer.hpp) and
///   bits 3…  depth: how often it is locked; 0 is free
///
/// I1  Between critical sections the first undecided waiter cannot be granted: it is held, and not by that waiter's
/// owner. I2  owner_ is empty unless it is held.
///
/// Why there is no fast path: several tasks may share one owner_id, and any thread may unlock, so the depth and the
/// owner have to be judged and changed together.
class recursive_mutex : public core::synchronizer {
 public:
  recursive_mutex() noexcept : synchronizer(0) {}

  /// Closes the mutex: every waiter gets errc::closed.
  ~recursive_mutex() {
    shut();
    WEIR_ASSERT(!locked(), "a recursive_mutex was destroyed while it was locked");
  }

  /// A guard that holds one lock and unlocks when it is destroyed.
  using guard = core::basic_guard<recursive_mutex>;

  /// The operation of lock() and scoped_lock().
  template <class Value>
  using lock_op = core::admission::op<recursive_mutex, Value>;

  /// Waits for the mutex, unless the owner calls it. Fails with errc::closed.
  auto lock() noexcept { return operation<lock_op<void>>(lock_op<void>(*this)); }

  /// Waits on behalf of the given owner. Throws std::invalid_argument if `who` is empty.
  auto lock(owner_id who) { return operation<lock_op<void>>(lock_op<void>(*this), checked(who)); }

  /// Waits for the mutex as lock() does, and yields a guard that unlocks it once.
  auto scoped_lock() noexcept { return operation<lock_op<guard>>(lock_op<guard>(*this)); }
  auto scoped_lock(owner_id who) { return operation<lock_op<guard>>(lock_op<guard>(*this), checked(who)); }

  /// The Asio spelling: lock()(token). Needs <weir/asio.hpp> or <weir/boost_asio.hpp>.
  template <class Token>
  decltype(auto) async_lock(Token&& token) {
    return lock()(std::forward<Token>(token));
  }
  template <class Token>
  decltype(auto) async_lock(owner_id who, Token&& token) {
    return lock(who)(std::forward<Token>(token));
  }
  template <class Token>
  decltype(auto) async_scoped_lock(Token&& token) {
    return scoped_lock()(std::forward<Token>(token));
  }
  template <class Token>
  decltype(auto) async_scoped_lock(owner_id who, Token&& token) {
    return scoped_lock(who)(std::forward<Token>(token));
  }

  /// Takes it if it is free and no waiter is queued. Records no owner.
  bool try_lock() noexcept { return take_now({}) == core::outcome::granted; }

  /// Takes it if it is free and no waiter is queued, or if `who` owns it. Throws std::invalid_argument if `who` is
  /// empty.
  bool try_lock(owner_id who) { return take_now(checked(who)) == core::outcome::granted; }

  /// Does the same; returns an empty guard on failure.
  guard try_scoped_lock() noexcept { return try_lock() ? guard(*this, std::adopt_lock) : guard(); }
  guard try_scoped_lock(owner_id who) { return try_lock(who) ? guard(*this, std::adopt_lock) : guard(); }

  /// Undoes one lock. The last unlock() passes the mutex to the first waiter, else frees it. Throws
  /// std::system_error(errc::not_owner) if it is not locked.
  void unlock() {
    if (!give_up_one()) throw std::system_error(make_error_code(errc::not_owner), "weir::recursive_mutex::unlock");
  }

  /// Returns a snapshot, taken without the lock.
  [[nodiscard]] bool locked() const noexcept { return depth_in(load()) != 0; }

  /// Checks the invariants, which hold between any two calls. For tests.
  [[nodiscard]] bool check_invariants() noexcept {
    critical_section lock(*this);
    return !core::admission::first_fits(*this, lock)   // I1
           && (depth_in(lock.state) != 0 || !owner_);  // I2
  }

 private:
  friend struct core::admission;
  friend guard;

  static constexpr const char* class_name = "weir::recursive_mutex";
  static constexpr word one_lock = word{1} << own_shift;

  struct node : core::waiter {
    node() noexcept = default;
    explicit node(owner_id name) noexcept : owner(name), named(true) {}

    void enter(core::context& where) noexcept {
      if (!named) owner = where.owner();
    }

    [[nodiscard]] owner_id request() const noexcept { return owner; }

    owner_id owner;
    bool named = false;
  };

  static constexpr word depth_in(word state) noexcept { return state >> own_shift; }

  static owner_id checked(owner_id who) {
    if (!who) {
      throw std::invalid_argument(
          "weir::recursive_mutex: an empty owner_id is nobody, who could not lock again: owner_id::make() gives a "
          "name");
    }
    return who;
  }

  bool fits(const critical_section& lock, owner_id who) const noexcept {
    return depth_in(lock.state) == 0 || (who && who == owner_);
  }

  void take(critical_section& lock, owner_id who) noexcept {
    if (depth_in(lock.state) == 0) owner_ = who;
    lock.state += one_lock;
  }

  core::outcome judge(const critical_section& lock, owner_id who) const noexcept {
    if (lock.closed()) return core::outcome::closed;
    return fits(lock, who) ? core::outcome::granted : core::outcome::pending;  // I1: if it is free, no waiter is queued
  }

  core::outcome take_now(owner_id who) noexcept { return core::admission::take_locked(*this, who); }

  static bool anything_left(const critical_section&) noexcept { return true; }  // for the owner, which may lock again
  void give_back(owner_id) noexcept { unlock(); }
  template <class Guard>
  Guard hold(owner_id) noexcept {
    return Guard(*this, std::adopt_lock);
  }

  /// Returns false if it was not locked.
  bool give_up_one() noexcept {
    core::completion done;
    critical_section lock(*this);
    if (depth_in(lock.state) == 0) return false;
    lock.state -= one_lock;
    if (depth_in(lock.state) != 0) return true;
    owner_ = {};                                // I2
    core::admission::serve(*this, lock, done);  // I1
    return true;
  }

  void disown() noexcept {
    critical_section lock(*this);
    owner_ = {};
  }

  owner_id owner_;  // under the lock
};

}  // namespace weir
