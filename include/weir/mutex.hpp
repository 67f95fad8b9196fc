#pragma once

// mutex: mutual exclusion across co_await. It hands itself directly to the first waiter.
//
// Who may call: any member from any thread at any time; a lock may be unlocked by somebody else than its owner. The
// destructor may race tickets, timers and stop requests, but no member call.
// Order: strictly first come, first served, over all kinds of waiters; try_lock() does not overtake.
// Cancellation: a wait that gave up has lost its place and holds nothing. One that was granted cannot be cancelled.
// Completions: the next owner goes on where it belongs (its executor, its own thread, or the flat loop of the
// thread that unlocked), after unlock() has done all its work.
//
// A lock by its own owner is an error, not a hang: where the owner is known (a chain of weir::tasks, a thread in
// wait()), locking again fails with errc::would_deadlock.

#include <mutex>
#include <system_error>
#include <type_traits>
#include <utility>

#include <weir/core/assert.hpp>
#include <weir/core/atomic.hpp>
#include <weir/core/context.hpp>
#include <weir/core/operation.hpp>
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
/// I1  Between locks nobody undecided is queued unless it is held: unlock() passes it on instead of freeing it.
/// I2  owner_ is nobody unless it is held; it is written by the one who holds it, or passes it on.
///
/// Why reading owner_ without the lock is enough: it can equal the asker only if the asker's own chain or thread wrote
/// it, or was handed the lock with it, and has not unlocked since: all of that happened before the question.
class mutex : public core::synchronizer {
 public:
  mutex() noexcept : synchronizer(0) {}

  /// Closes: whoever waits gets errc::closed.
  ~mutex() {
    shut();
    WEIR_ASSERT(!locked(), "a mutex was destroyed while it was locked");
  }

  class guard;

  template <class Value>
  class lock_op;

  /// Waits for the mutex. Fails with errc::closed, or errc::would_deadlock if its owner asks.
  inline auto lock() noexcept;

  /// Waits for the mutex and gives a guard that unlocks it.
  inline auto scoped_lock() noexcept;

  /// In the way of a completion token of Asio's, with <weir/asio.hpp> or <weir/boost_asio.hpp>.
  template <class Token>
  decltype(auto) async_lock(Token&& token);
  template <class Token>
  decltype(auto) async_scoped_lock(Token&& token);

  /// Takes it if it is free and nobody waits. Records no owner.
  bool try_lock() noexcept { return take_now({}) == core::outcome::granted; }

  /// The same; an empty guard if not.
  inline guard try_scoped_lock() noexcept;

  /// Hands it to the first who waits, else frees it. Throws std::system_error(errc::not_owner) if it is not locked.
  [[gnu::always_inline]] void unlock() {
    set_owner({});  // I2
    word seen = held_bit;
    if (!advance(seen, 0)) unlock_slow();
  }

  /// A reading, no lock.
  [[nodiscard]] bool locked() const noexcept { return (load() & held_bit) != 0; }

  /// For tests: what holds between any two calls.
  [[nodiscard]] bool check_invariants() noexcept {
    synchronizer::locked lock(*this);
    return is_held(lock) || (!anybody_waits(lock) && !owner());  // I1, I2
  }

 private:
  static constexpr word held_bit = word{1} << own_shift;

  struct node : core::waiter {
    void enter(core::context& where) noexcept { owner = where.owner(); }
    owner_id owner;
  };

  using section = synchronizer::locked;  // of the mutex's own lock: the name `locked` is the public reading here

  static bool is_held(const section& lock) noexcept { return (lock.state & held_bit) != 0; }

  [[nodiscard]] owner_id owner() const noexcept {
    return owner_.load(std::memory_order_relaxed);
  }  // relaxed: see above
  void set_owner(owner_id who) noexcept { owner_.store(who, std::memory_order_relaxed); }  // relaxed: see above

  core::outcome take_now(owner_id who) noexcept {
    word seen = 0;
    if (advance(seen, held_bit)) {
      set_owner(who);
      return core::outcome::granted;
    }
    const bool plainly_held = (seen & (locked_bit | closed_bit | held_bit)) == held_bit;
    return plainly_held && !(who && who == owner()) ? core::outcome::pending : take_now_slow(who);
  }

  [[gnu::noinline]] core::outcome take_now_slow(owner_id who) noexcept {
    section lock(*this);
    const core::outcome verdict = judge(lock, who);
    if (verdict == core::outcome::granted) take(lock, who);
    return verdict;
  }

  core::outcome judge(const section& lock, owner_id who) const noexcept {
    if (lock.closed()) return core::outcome::closed;
    if (!is_held(lock)) return core::outcome::granted;  // I1
    return who && who == owner() ? core::outcome::would_deadlock : core::outcome::pending;
  }

  void take(section& lock, owner_id who) noexcept {
    lock.state |= held_bit;
    set_owner(who);
  }

  [[gnu::noinline]] void unlock_slow() {
    if (!pass_on()) throw std::system_error(make_error_code(errc::not_owner), "weir::mutex::unlock");
  }

  /// False: it was not locked.
  bool pass_on() noexcept {
    core::completion done;
    section lock(*this);
    if (!is_held(lock)) return false;
    lock.state &= ~held_bit;
    const auto left = [&] { return !is_held(lock); };
    serve(lock, done, left, [&](core::waiter& first) noexcept {
      const core::answer given = first.decide(core::outcome::granted);
      if (given == core::answer::done) take(lock, static_cast<node&>(first).owner);
      return given;
    });
    return true;
  }

  platform::atomic<owner_id> owner_{owner_id()};
};

/// Unlocks when it goes. Move-only.
class [[nodiscard("a guard that is discarded unlocks at once: auto guard = co_await m.scoped_lock();")]] mutex::guard {
 public:
  guard() noexcept = default;
  /// Takes over what is locked already.
  guard(weir::mutex& held, std::adopt_lock_t) noexcept : mutex_(&held) {}
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
    if (mutex_ == nullptr) throw std::system_error(make_error_code(errc::not_owner), "weir::mutex::guard::unlock");
    std::exchange(mutex_, nullptr)->unlock();
  }

  /// Leaves the mutex locked, to be unlocked by whoever called this. Null if it holds nothing.
  weir::mutex* release() noexcept { return std::exchange(mutex_, nullptr); }

  /// What it holds; null if nothing.
  [[nodiscard]] weir::mutex* mutex() const noexcept { return mutex_; }

  /// Forgets who locked it: before the guard is handed on to another task or thread, which may then wait for
  /// what the old one locks, and the old one for this.
  void disown() noexcept {
    if (mutex_ != nullptr) mutex_->set_owner({});
  }

 private:
  weir::mutex* mutex_ = nullptr;
};

/// Value is void, or guard.
template <class Value>
class mutex::lock_op {
 public:
  using value_type = Value;
  using node = mutex::node;

  explicit lock_op(mutex& wanted) noexcept : mutex_(&wanted) {}

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

  bool withdraw(node& queued, core::completion&) noexcept {
    section lock(*mutex_);
    return mutex_->unlink(lock, queued);  // I1: it is held, those behind it still have to wait
  }

  void give_back(node&) noexcept { mutex_->unlock(); }

  Value take(node&) noexcept {
    if constexpr (!std::is_void_v<Value>) return guard(*mutex_, std::adopt_lock);
  }

 private:
  mutex* mutex_;
};

auto mutex::lock() noexcept { return operation<lock_op<void>>(lock_op<void>(*this)); }

auto mutex::scoped_lock() noexcept { return operation<lock_op<guard>>(lock_op<guard>(*this)); }

mutex::guard mutex::try_scoped_lock() noexcept { return try_lock() ? guard(*this, std::adopt_lock) : guard(); }

template <class Token>
decltype(auto) mutex::async_lock(Token&& token) {
  return lock()(std::forward<Token>(token));
}

template <class Token>
decltype(auto) mutex::async_scoped_lock(Token&& token) {
  return scoped_lock()(std::forward<Token>(token));
}

}  // namespace weir
