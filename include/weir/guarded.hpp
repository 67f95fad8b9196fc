#pragma once

// guarded<T>: data that can only be reached under its lock: `auto ref = co_await g.lock(); ref->…`.
//
// Who may call: any member from any thread at any time; what lock() gave belongs to whoever has it, and unlocks when it
// goes. The destructor may race tickets, timers and stop requests, but no member call.
// Order: strictly first come, first served, as weir::mutex; try_lock() does not overtake. Locking again by its owner
// fails with errc::would_deadlock where the owner is known.
// Cancellation: a wait that gave up has lost its place and holds nothing. One that was granted cannot be cancelled.
// Completions: the next owner goes on where it belongs (its executor, its own thread, or the flat loop of the thread
// that unlocked), after the unlocking has done all its work.

#include <concepts>
#include <cstddef>
#include <memory>
#include <utility>

#include <weir/core/assert.hpp>
#include <weir/core/operation.hpp>
#include <weir/mutex.hpp>
#include <weir/wait/operation.hpp>

namespace weir {

/// I1  Every way to the value is a reference, and a reference that is not empty has the mutex.
template <class T>
class guarded {
 public:
  /// What is guarded.
  using value_type = T;

  /// Makes the T of what is given.
  template <class... Args>
    requires std::constructible_from<T, Args...>
  explicit guarded(Args&&... args) : value_(std::forward<Args>(args)...) {}

  guarded(const guarded&) = delete;
  guarded& operator=(const guarded&) = delete;

  class reference;
  class lock_op;

  /// Waits for the lock, and gives the way to the value. Fails with errc::closed, or errc::would_deadlock if its owner
  /// asks.
  auto lock() noexcept;

  /// In the way of a completion token of Asio's, with <weir/asio.hpp> or <weir/boost_asio.hpp>.
  template <class Token>
  decltype(auto) async_lock(Token&& token) {
    return lock()(std::forward<Token>(token));
  }

  /// The same if it is free and nobody waits; an empty reference if not. Records no owner.
  reference try_lock() noexcept { return reference(mutex_.try_scoped_lock(), value_); }

  /// Whether somebody holds it: a reading, no lock.
  [[nodiscard]] bool locked() const noexcept { return mutex_.locked(); }

  /// As for every synchronizer.
  [[nodiscard]] std::size_t waiting() const noexcept { return mutex_.waiting(); }
  std::size_t cancel_all() noexcept { return mutex_.cancel_all(); }
  void close() noexcept { mutex_.close(); }
  [[nodiscard]] bool closed() const noexcept { return mutex_.closed(); }

  /// For tests: what holds between any two calls.
  [[nodiscard]] bool check_invariants() noexcept { return mutex_.check_invariants(); }

 private:
  T value_;
  mutex mutex_;  // last: whoever waits is gone before the value goes
};

/// The way to the value, while it lives: it has the lock. Move-only; an empty one leads nowhere.
template <class T>
class [[nodiscard(
    "a reference that is discarded unlocks at once: auto ref = co_await g.lock();")]] guarded<T>::reference {
 public:
  reference() noexcept = default;

  /// Whether it holds the lock: it does not after unlock(), or when a try failed.
  [[nodiscard]] bool owns_lock() const noexcept { return held_.owns_lock(); }
  explicit operator bool() const noexcept { return owns_lock(); }

  /// The data. Only while it holds the lock.
  T& operator*() const noexcept {
    WEIR_ASSERT(owns_lock(), "a guarded value was reached for through an empty reference");
    return *value_;
  }
  T* operator->() const noexcept { return std::addressof(**this); }

  /// Unlocks now; it is empty then. Throws std::system_error(errc::not_owner) if it was.
  void unlock() { held_.unlock(); }

  /// Forgets who locked: before it is handed on to another task or thread.
  void disown() noexcept { held_.disown(); }

 private:
  friend class guarded;
  reference(mutex::guard held, T& value) noexcept : held_(std::move(held)), value_(std::addressof(value)) {}

  mutex::guard held_;
  T* value_ = nullptr;
};

/// The mutex's operation, with the way to the value as what it yields.
template <class T>
class guarded<T>::lock_op : public mutex::lock_op<mutex::guard> {
  using mutex_op = mutex::lock_op<mutex::guard>;

 public:
  using value_type = reference;
  using node = typename mutex_op::node;

  explicit lock_op(guarded& wanted) noexcept : mutex_op(wanted.mutex_), value_(std::addressof(wanted.value_)) {}

  reference take(node& granted) noexcept { return reference(mutex_op::take(granted), *value_); }

 private:
  T* value_;
};

template <class T>
auto guarded<T>::lock() noexcept {
  return operation<lock_op>(lock_op(*this));
}

}  // namespace weir
