#pragma once

// guarded<T>: data that can only be reached under its lock.
//
//     auto ref = co_await g.lock();
//     ref->change();
//
// Who may call: every member may be called from any thread at any time; a reference belongs to its holder, and unlocks
// when it is destroyed. The destructor may run concurrently with tickets, timers and stop requests, but not with a
// member call.
// Order: FIFO over all kinds of waiters, as weir::mutex; try_lock() does not overtake. A second lock by the owner fails
// with errc::would_deadlock where the owner is known.
// Cancellation: a wait that gave up has lost its place and holds nothing. A granted wait cannot be cancelled.
// Completions: the next owner resumes on its executor, its own thread, or the flat loop of the thread that unlocked,
// after the unlocking has done all its work.

#include <concepts>
#include <cstddef>
#include <memory>
#include <utility>

#include <weir/core/assert.hpp>
#include <weir/core/operation.hpp>
#include <weir/mutex.hpp>
#include <weir/wait/operation.hpp>

namespace weir {

/// I1  The value is reached only through a reference, and a reference that is not empty holds the mutex.
template <class T>
class guarded {
 public:
  /// The type of the guarded data.
  using value_type = T;

  /// Constructs the T from the arguments.
  template <class... Args>
    requires std::constructible_from<T, Args...>
  explicit guarded(Args&&... args) : value_(std::forward<Args>(args)...) {}

  guarded(const guarded&) = delete;
  guarded& operator=(const guarded&) = delete;

  class reference;
  class lock_op;

  /// Waits for the lock and yields a reference to the value. Fails with errc::closed, or with errc::would_deadlock if
  /// the owner calls it.
  auto lock() noexcept;

  /// The Asio spelling: lock()(token). Needs <weir/asio.hpp> or <weir/boost_asio.hpp>.
  template <class Token>
  decltype(auto) async_lock(Token&& token) {
    return lock()(std::forward<Token>(token));
  }

  /// Returns a reference if the lock is free and no waiter is queued, else an empty one. Records no owner.
  reference try_lock() noexcept { return reference(mutex_.try_scoped_lock(), value_); }

  /// Returns whether it is locked: a snapshot, taken without the lock.
  [[nodiscard]] bool locked() const noexcept { return mutex_.locked(); }

  /// Members of every synchronizer.
  [[nodiscard]] std::size_t waiting() const noexcept { return mutex_.waiting(); }
  std::size_t cancel_all() noexcept { return mutex_.cancel_all(); }
  void close() noexcept { mutex_.close(); }
  [[nodiscard]] bool closed() const noexcept { return mutex_.closed(); }

  /// Checks the invariants, which hold between any two calls. For tests.
  [[nodiscard]] bool check_invariants() noexcept { return mutex_.check_invariants(); }

 private:
  T value_;
  mutex mutex_;  // declared last: no wait is left when the value is destroyed
};

/// Access to the value: holds the lock while it exists. Move-only; an empty one refers to nothing.
template <class T>
class [[nodiscard(
    "a reference that is discarded unlocks at once: auto ref = co_await g.lock();")]] guarded<T>::reference {
 public:
  reference() noexcept = default;

  /// Returns whether it holds the lock. It does not after unlock(), or if try_lock() failed.
  [[nodiscard]] bool owns_lock() const noexcept { return held_.owns_lock(); }
  explicit operator bool() const noexcept { return owns_lock(); }

  /// Accesses the data. The reference must hold the lock.
  T& operator*() const noexcept {
    WEIR_ASSERT(owns_lock(), "a guarded value was reached for through an empty reference");
    return *value_;
  }
  T* operator->() const noexcept { return std::addressof(**this); }

  /// Unlocks now, and is empty from then on. Throws std::system_error(errc::not_owner) if it is empty.
  void unlock() { held_.unlock(); }

  /// Makes the mutex forget its owner: call it before the reference is passed to another task or thread.
  void disown() noexcept { held_.disown(); }

 private:
  friend class guarded;
  reference(mutex::guard held, T& value) noexcept : held_(std::move(held)), value_(std::addressof(value)) {}

  mutex::guard held_;
  T* value_ = nullptr;
};

/// The operation of the mutex, which yields a reference to the value.
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
