#pragma once

// The guard of every mutex: it holds one lock and unlocks it when it is destroyed.

#include <cstdint>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>

#include <weir/core/errc.hpp>

namespace weir::core {

/// The kind of lock that a guard holds.
enum class held_lock : std::uint8_t { exclusive, shared };

/// Move-only; empty after unlock() and release().
template <class Mutex, held_lock Held = held_lock::exclusive>
class [[nodiscard("a guard that is discarded unlocks at once: auto guard = co_await m.scoped_lock();")]] basic_guard {
 public:
  basic_guard() noexcept = default;
  /// Takes over a lock that is already held.
  basic_guard(Mutex& held, std::adopt_lock_t) noexcept : mutex_(&held) {}
  basic_guard(basic_guard&& from) noexcept : mutex_(from.release()) {}
  basic_guard& operator=(basic_guard&& from) noexcept {
    basic_guard taken(std::move(from));
    std::swap(mutex_, taken.mutex_);
    return *this;
  }
  ~basic_guard() {
    if (mutex_ != nullptr) unlock();
  }

  /// Whether it holds the lock.
  [[nodiscard]] bool owns_lock() const noexcept { return mutex_ != nullptr; }
  explicit operator bool() const noexcept { return owns_lock(); }

  /// Throws std::system_error(errc::not_owner) if the guard is empty.
  void unlock() {
    Mutex* const held = release();
    if (held == nullptr) refuse();
    if constexpr (Held == held_lock::shared) {
      held->unlock_shared();
    } else {
      held->unlock();
    }
  }

  /// Leaves the mutex locked: the caller has to unlock it. Null if the guard is empty.
  Mutex* release() noexcept { return std::exchange(mutex_, nullptr); }

  /// The mutex that it holds. Null if the guard is empty.
  [[nodiscard]] Mutex* mutex() const noexcept { return mutex_; }

  /// Makes the mutex forget its owner: for a guard that is handed to another task or thread, so that the mutex does not
  /// take the former holder for the present one. A mutex that records no owner is not changed.
  void disown() noexcept {
    if constexpr (requires { mutex_->disown(); }) {
      if (mutex_ != nullptr) mutex_->disown();
    }
  }

 private:
  [[noreturn, gnu::cold, gnu::noinline]] static void refuse() {
    throw std::system_error(make_error_code(errc::not_owner), std::string(Mutex::class_name) + ": the guard is empty");
  }

  Mutex* mutex_ = nullptr;
};

}  // namespace weir::core
