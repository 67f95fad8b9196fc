#pragma once

// The standard lock classes call m.lock() and discard what it returns. For a weir mutex that is an operation: nothing
// would be locked, and the critical section would run unprotected. This file specializes these classes for weir's
// mutexes, only to refuse them with a compile error that states what to write instead.

#include <mutex>
#include <shared_mutex>

namespace weir::core {

/// True for a mutex whose lock() returns an operation. Each such mutex specializes it: a requires-expression would not
/// compile for the std::unique_lock of an incomplete type.
template <class Mutex>
inline constexpr bool locks_by_operation = false;

template <class... Mutex>
concept any_locks_by_operation = (locks_by_operation<Mutex> || ...);

/// Accepts what a lock class is constructed from, so that no second error follows.
template <class... Mutex>
class refused_lock {
  static_assert(!any_locks_by_operation<Mutex...>,
                "a weir mutex is not locked by std::lock_guard, std::unique_lock or std::scoped_lock: write "
                "auto guard = co_await m.scoped_lock(); or in a thread auto guard = m.scoped_lock().wait();");

 public:
  template <class... Args>
  explicit refused_lock(Args&&...) noexcept {}
};

template <class Mutex>
class refused_shared_lock {
  static_assert(!any_locks_by_operation<Mutex>,
                "a weir mutex is not locked by std::shared_lock: write "
                "auto guard = co_await m.scoped_lock_shared(); or in a thread "
                "auto guard = m.scoped_lock_shared().wait();");

 public:
  template <class... Args>
  explicit refused_shared_lock(Args&&...) noexcept {}
};

}  // namespace weir::core

template <weir::core::any_locks_by_operation Mutex>
class std::lock_guard<Mutex> : weir::core::refused_lock<Mutex> {
 public:
  using weir::core::refused_lock<Mutex>::refused_lock;
};

template <weir::core::any_locks_by_operation Mutex>
class std::unique_lock<Mutex> : weir::core::refused_lock<Mutex> {
 public:
  using weir::core::refused_lock<Mutex>::refused_lock;
};

template <weir::core::any_locks_by_operation Mutex>
class std::shared_lock<Mutex> : weir::core::refused_shared_lock<Mutex> {
 public:
  using weir::core::refused_shared_lock<Mutex>::refused_shared_lock;
};

template <weir::core::any_locks_by_operation Mutex>
class std::scoped_lock<Mutex> : weir::core::refused_lock<Mutex> {
 public:
  using weir::core::refused_lock<Mutex>::refused_lock;
};

/// Refuses several mutexes if at least one of them is weir's.
template <class First, class Second, class... More>
  requires weir::core::any_locks_by_operation<First, Second, More...>
class std::scoped_lock<First, Second, More...> : weir::core::refused_lock<First, Second, More...> {
 public:
  using weir::core::refused_lock<First, Second, More...>::refused_lock;
};
