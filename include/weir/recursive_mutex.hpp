#pragma once

// recursive_mutex: a mutex that its owner may lock again, and unlocks as often.
//
// Who may call: any member from any thread at any time; unlock() does not ask who calls. The destructor may race
// tickets, timers and stop requests, but no member call.
// Order: strictly first come, first served, over all kinds of waiters; try_lock() does not overtake. Only the owner
// itself, locking again, does not stand in line. A wait that stands in line keeps its place, also if somebody of the
// same name becomes the owner; directly behind that one it enters with it.
// Cancellation: a wait that gave up has lost its place and holds nothing. One that was granted cannot be cancelled.
// Completions: the next owner goes on where it belongs (its executor, its own thread, or the flat loop of the thread
// that unlocked), after the last unlock() has done all its work.
//
// The owner is the chain of weir::tasks or the thread in wait(), or named: lock(owner_id), for coroutine types that
// weir cannot see into. Where neither is known the lock has no owner, and nobody can lock it again.

#include <stdexcept>
#include <system_error>
#include <type_traits>
#include <utility>

#include <weir/core/assert.hpp>
#include <weir/core/context.hpp>
#include <weir/core/operation.hpp>
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
/// I1  Between locks the first undecided waiter is not one that could enter: it is held, and not by that one's owner.
/// I2  owner_ is nobody unless it is held.
///
/// Why there is no fast path: several may go by one name, and anybody may unlock, so that the depth and the owner have
/// to be judged, and changed, together.
class recursive_mutex : public core::synchronizer {
 public:
  recursive_mutex() noexcept : synchronizer(0) {}

  /// Closes: whoever waits gets errc::closed.
  ~recursive_mutex() {
    shut();
    WEIR_ASSERT(!locked(), "a recursive_mutex was destroyed while it was locked");
  }

  class guard;

  template <class Value>
  class lock_op;

  /// Waits for the mutex, unless its owner asks. Fails with errc::closed.
  inline auto lock() noexcept;

  /// The same on behalf of a name. Throws std::invalid_argument if that is nobody's.
  inline auto lock(owner_id who);

  /// Waits for the mutex as lock() does, and gives a guard that unlocks it once.
  inline auto scoped_lock() noexcept;
  inline auto scoped_lock(owner_id who);

  /// In the way of a completion token of Asio's, with <weir/asio.hpp> or <weir/boost_asio.hpp>.
  template <class Token>
  decltype(auto) async_lock(Token&& token);
  template <class Token>
  decltype(auto) async_lock(owner_id who, Token&& token);
  template <class Token>
  decltype(auto) async_scoped_lock(Token&& token);
  template <class Token>
  decltype(auto) async_scoped_lock(owner_id who, Token&& token);

  /// Takes it if it is free and nobody waits. Records no owner.
  bool try_lock() noexcept { return take_now({}) == core::outcome::granted; }

  /// Takes it if it is free and nobody waits, or if that is its owner. Throws std::invalid_argument if it is nobody.
  bool try_lock(owner_id who) { return take_now(checked(who)) == core::outcome::granted; }

  /// The same; an empty guard if not.
  inline guard try_scoped_lock() noexcept;
  inline guard try_scoped_lock(owner_id who);

  /// Takes one lock back. The last one hands it to the first who waits, else frees it. Throws
  /// std::system_error(errc::not_owner) if it is not locked.
  void unlock() {
    if (!give_up_one()) throw std::system_error(make_error_code(errc::not_owner), "weir::recursive_mutex::unlock");
  }

  /// A reading, no lock.
  [[nodiscard]] bool locked() const noexcept { return depth_in(load()) != 0; }

  /// For tests: what holds between any two calls.
  [[nodiscard]] bool check_invariants() noexcept {
    section lock(*this);
    bool first_fits = false;
    core::completion nobody;
    serve(lock, nobody, [&](core::waiter& first) noexcept {
      first_fits = fits(lock, static_cast<node&>(first).owner);
      return core::answer::not_ready;
    });
    return !first_fits                                 // I1
           && (depth_in(lock.state) != 0 || !owner_);  // I2
  }

 private:
  static constexpr word one_lock = word{1} << own_shift;

  struct node : core::waiter {
    node() noexcept = default;
    explicit node(owner_id name) noexcept : owner(name), named(true) {}

    void enter(core::context& where) noexcept {
      if (!named) owner = where.owner();
    }

    owner_id owner;
    bool named = false;
  };

  using section = synchronizer::locked;  // of the mutex's own lock: the name `locked` is the public reading here

  static constexpr word depth_in(word state) noexcept { return state >> own_shift; }

  static owner_id checked(owner_id who) {
    if (!who) {
      throw std::invalid_argument(
          "weir::recursive_mutex: an empty owner_id is nobody, who could not lock again: owner_id::make() gives a "
          "name");
    }
    return who;
  }

  bool fits(const section& lock, owner_id who) const noexcept {
    return depth_in(lock.state) == 0 || (who && who == owner_);
  }

  void take(section& lock, owner_id who) noexcept {
    if (depth_in(lock.state) == 0) owner_ = who;
    lock.state += one_lock;
  }

  core::outcome judge(const section& lock, owner_id who) const noexcept {
    if (lock.closed()) return core::outcome::closed;
    return fits(lock, who) ? core::outcome::granted : core::outcome::pending;  // I1: if it is free nobody waits
  }

  core::outcome take_now(owner_id who) noexcept {
    section lock(*this);
    const core::outcome verdict = judge(lock, who);
    if (verdict == core::outcome::granted) take(lock, who);
    return verdict;
  }

  /// False: it was not locked.
  bool give_up_one() noexcept {
    core::completion done;
    section lock(*this);
    if (depth_in(lock.state) == 0) return false;
    lock.state -= one_lock;
    if (depth_in(lock.state) != 0) return true;
    owner_ = {};  // I2
    serve_queue(lock, done);
    return true;
  }

  /// I1, after it became free or somebody left the line.
  void serve_queue(section& lock, core::completion& done) noexcept {
    serve(lock, done, [&](core::waiter& first) noexcept {
      const owner_id who = static_cast<node&>(first).owner;
      if (!fits(lock, who)) return core::answer::not_ready;
      const core::answer given = first.decide(core::outcome::granted);
      if (given == core::answer::done) take(lock, who);
      return given;
    });
  }

  void disown() noexcept {
    section lock(*this);
    owner_ = {};
  }

  owner_id owner_;  // under the lock
};

/// Unlocks once when it goes. Move-only.
class [[nodiscard(
    "a guard that is discarded unlocks at once: auto guard = co_await m.scoped_lock();")]] recursive_mutex::guard {
 public:
  guard() noexcept = default;
  guard(guard&& from) noexcept : mutex_(std::exchange(from.mutex_, nullptr)) {}
  guard& operator=(guard&& from) noexcept {
    guard taken(std::move(from));
    std::swap(mutex_, taken.mutex_);
    return *this;
  }
  ~guard() {
    if (mutex_ != nullptr) mutex_->unlock();
  }

  /// Whether it holds the lock.
  [[nodiscard]] bool owns_lock() const noexcept { return mutex_ != nullptr; }
  explicit operator bool() const noexcept { return owns_lock(); }

  /// Throws std::system_error(errc::not_owner) if it holds nothing.
  void unlock() {
    if (mutex_ == nullptr) {
      throw std::system_error(make_error_code(errc::not_owner), "weir::recursive_mutex::guard::unlock");
    }
    std::exchange(mutex_, nullptr)->unlock();
  }

  /// Leaves the mutex locked, to be unlocked by whoever called this. Null if it holds nothing.
  recursive_mutex* release() noexcept { return std::exchange(mutex_, nullptr); }

  /// Forgets who locked it, however often: before the guard is handed on to another task or thread. Nobody can lock it
  /// again then until it was free.
  void disown() noexcept {
    if (mutex_ != nullptr) mutex_->disown();
  }

 private:
  friend class recursive_mutex;
  explicit guard(recursive_mutex& held) noexcept : mutex_(&held) {}

  recursive_mutex* mutex_ = nullptr;
};

/// Value is void, or guard.
template <class Value>
class recursive_mutex::lock_op {
 public:
  using value_type = Value;
  using node = recursive_mutex::node;

  explicit lock_op(recursive_mutex& wanted) noexcept : mutex_(&wanted) {}

  core::answer try_now(node& asking) noexcept {
    const core::outcome verdict = mutex_->take_now(asking.owner);
    return verdict == core::outcome::pending ? core::answer::not_ready : asking.decide(verdict);
  }

  core::answer start(node& starting, core::completion&) noexcept {
    section lock(*mutex_);
    const core::outcome verdict = mutex_->judge(lock, starting.owner);
    if (verdict == core::outcome::pending) return mutex_->enqueue(lock, starting);
    const core::answer decided = starting.decide(verdict);  // claim first, then take
    if (verdict == core::outcome::granted && decided == core::answer::done) mutex_->take(lock, starting.owner);
    return decided;
  }

  bool withdraw(node& queued, core::completion& done) noexcept {
    section lock(*mutex_);
    const bool was_queued = mutex_->unlink(lock, queued);
    mutex_->serve_queue(lock, done);
    return was_queued;
  }

  void give_back(node&) noexcept { mutex_->unlock(); }

  Value take(node&) noexcept {
    if constexpr (!std::is_void_v<Value>) return guard(*mutex_);
  }

 private:
  recursive_mutex* mutex_;
};

auto recursive_mutex::lock() noexcept { return operation<lock_op<void>>(lock_op<void>(*this)); }

auto recursive_mutex::lock(owner_id who) { return operation<lock_op<void>>(lock_op<void>(*this), checked(who)); }

auto recursive_mutex::scoped_lock() noexcept { return operation<lock_op<guard>>(lock_op<guard>(*this)); }

auto recursive_mutex::scoped_lock(owner_id who) {
  return operation<lock_op<guard>>(lock_op<guard>(*this), checked(who));
}

recursive_mutex::guard recursive_mutex::try_scoped_lock() noexcept { return try_lock() ? guard(*this) : guard(); }

recursive_mutex::guard recursive_mutex::try_scoped_lock(owner_id who) { return try_lock(who) ? guard(*this) : guard(); }

template <class Token>
decltype(auto) recursive_mutex::async_lock(Token&& token) {
  return lock()(std::forward<Token>(token));
}

template <class Token>
decltype(auto) recursive_mutex::async_lock(owner_id who, Token&& token) {
  return lock(who)(std::forward<Token>(token));
}

template <class Token>
decltype(auto) recursive_mutex::async_scoped_lock(Token&& token) {
  return scoped_lock()(std::forward<Token>(token));
}

template <class Token>
decltype(auto) recursive_mutex::async_scoped_lock(owner_id who, Token&& token) {
  return scoped_lock(who)(std::forward<Token>(token));
}

}  // namespace weir
