#pragma once

// task<T>: a lazy coroutine that stays on its executor: after every co_await of an operation it resumes there.
//
// A task starts when it is awaited, spawned or waited for, on its starter's thread, as part of its starter's chain:
// with the same executor, owner and stop token. Awaiting uses no stack that outlives the await: a child that finishes
// without suspending returns to its parent as a call does, in every build.

#include <coroutine>
#include <cstdint>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include <weir/core/assert.hpp>
#include <weir/core/atomic.hpp>
#include <weir/core/awaiter.hpp>
#include <weir/core/context.hpp>
#include <weir/core/frame.hpp>
#include <weir/core/front.hpp>
#include <weir/core/task_end.hpp>

namespace weir {

template <class T = void>
class task;

namespace core {

template <class T>
class task_awaiter;

class task_promise_base {
 public:
  struct at_end {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> finished) const noexcept {
      return finished.promise().end_->ended();
    }
    void await_resume() const noexcept {}
  };

  std::suspend_always initial_suspend() const noexcept { return {}; }
  at_end final_suspend() const noexcept { return {}; }

  /// Makes the child part of this task's chain.
  template <class T>
  task_awaiter<T> await_transform(task<T>&& child) const noexcept;
  template <class T>
  task_awaiter<T> await_transform(task<T>& child) const noexcept {
    static_assert(sizeof(child) == 0, "a task is awaited once, and is used up then: co_await std::move(child)");
    return await_transform(std::move(child));
  }

  template <front_awaitable Awaited>
  auto await_transform(Awaited&& awaited) const {
    auto adapted = as_awaitable(front_tag(), std::forward<Awaited>(awaited));
    if (context_ != nullptr) adapted.enter(*context_);
    return adapted;
  }

  /// Passes the context to an awaitable with enter(). Any other is foreign, and may resume the task anywhere.
  template <class Awaited>
  decltype(auto) await_transform(Awaited&& awaited) const {
    static_assert(
        awaitable<Awaited>,
        "this cannot be awaited: await a task or an operation. Of a semaphore that is its acquire(), of a mutex "
        "its lock(), of an event its wait(), of a queue its pop(), of a future its get()");
    if (context_ != nullptr) {
      if constexpr (requires { awaited.enter(*context_); }) {
        awaited.enter(*context_);
      } else {
        context_->away = true;
      }
    }
    return awaiter_of(static_cast<Awaited&&>(awaited));
  }

  /// Called before the start. A null context: the chain begins in a coroutine of another kind, which has none.
  void runs_in(core::context* where) noexcept { context_ = where; }
  [[nodiscard]] core::context* context() const noexcept { return context_; }
  void tells(task_end& end) noexcept { end_ = &end; }

  void unhandled_exception() noexcept { end_->failed(std::current_exception()); }

 private:
  core::context* context_ = nullptr;
  task_end* end_ = nullptr;
};

template <class T>
class task_promise : public task_promise_base {
 public:
  task<T> get_return_object() noexcept;

  template <class U = T>
    requires std::is_constructible_v<T, U>
  void return_value(U&& value) {
    returned_.emplace(std::forward<U>(value));
  }

  T take() {
    WEIR_ASSERT(returned_.has_value(), "a task<T> ended without co_return");
    return std::move(*returned_);
  }

 private:
  std::optional<T> returned_;
};

template <>
class task_promise<void> : public task_promise_base {
 public:
  inline task<void> get_return_object() noexcept;
  void return_void() const noexcept {}
  void take() const noexcept {}
};

/// A parent awaits its child. The child runs inside await_suspend. If it ends there, the parent does not suspend at
/// all: no stack is used up, whether or not the compiler makes tail calls. Otherwise the later of the two (the child's
/// end, the parent's suspension) resumes the parent.
template <class T>
class [[nodiscard]] task_awaiter final : private task_outcome {
 public:
  task_awaiter(std::coroutine_handle<task_promise<T>> child, core::context* where) noexcept : child_(child) {
    child_.promise().runs_in(where);
  }

  bool await_ready() const noexcept { return false; }

  bool await_suspend(std::coroutine_handle<> parent) noexcept {
    core::context* const where = child_.promise().context();
    const bool away = where != nullptr && where->away;
    parent_ = parent;
    child_.promise().tells(*this);
    child_.resume();
    // acquire, acq_rel: pair with the exchange in ended(), which may be on another thread
    if (meeting_.load(std::memory_order_acquire) != meeting::child_ended &&
        meeting_.exchange(meeting::parent_suspended, std::memory_order_acq_rel) != meeting::child_ended) {
      return true;
    }
    if (where != nullptr) where->away = away;  // the parent is still on this thread, wherever the child was
    return false;
  }

  T await_resume() {
    rethrow_failure();
    return child_.promise().take();
  }

 private:
  enum class meeting : std::uint8_t { running, parent_suspended, child_ended };

  std::coroutine_handle<> ended() noexcept override {
    const auto parent = parent_;
    // acq_rel: pairs with await_suspend. This awaiter may be destroyed as soon as both have happened.
    const auto met = meeting_.exchange(meeting::child_ended, std::memory_order_acq_rel);
    return met == meeting::parent_suspended ? parent : std::noop_coroutine();
  }

  std::coroutine_handle<task_promise<T>> child_;
  std::coroutine_handle<> parent_;
  platform::atomic<meeting> meeting_{meeting::running};
};

}  // namespace core

/// A coroutine that starts when it is awaited or spawned, and resumes on its executor.
template <class T>
class [[nodiscard("a task does nothing until it is awaited or spawned")]] task {
  static_assert(!std::is_reference_v<T>, "a task gives a value: return a pointer or std::reference_wrapper instead");

 public:
  /// The type of the value that it returns.
  using value_type = T;
  using promise_type = core::task_promise<T>;

  task() noexcept = default;
  task(task&& from) noexcept : coroutine_(std::exchange(from.coroutine_, nullptr)) {}
  task& operator=(task&& from) noexcept {
    task taken(std::move(from));
    std::swap(coroutine_, taken.coroutine_);
    return *this;
  }
  ~task() {
    if (coroutine_) core::unfinished_frame::destroy(coroutine_);
  }

  /// True if it holds a coroutine, that is, was not default-constructed or moved from.
  explicit operator bool() const noexcept { return static_cast<bool>(coroutine_); }

  /// Awaits the task in a coroutine of another kind. The task then has no executor: it resumes wherever its waits end.
  core::task_awaiter<T> operator co_await() && noexcept { return awaited_in(nullptr); }

  /// Starts the task in `where`, on this thread, at most once. `end` is notified when it has ended.
  void start(core::context& where, core::task_end& end) noexcept {
    WEIR_ASSERT(coroutine_, "an empty task was started");
    coroutine_.promise().runs_in(&where);
    coroutine_.promise().tells(end);
    coroutine_.resume();
  }

  /// Returns the task's value. Called after its end, if it has not failed.
  T take() { return coroutine_.promise().take(); }

 private:
  friend promise_type;
  friend core::task_promise_base;

  core::task_awaiter<T> awaited_in(core::context* where) noexcept {
    WEIR_ASSERT(coroutine_, "an empty task was awaited");
    return core::task_awaiter<T>(coroutine_, where);
  }

  explicit task(std::coroutine_handle<promise_type> coroutine) noexcept : coroutine_(coroutine) {}

  std::coroutine_handle<promise_type> coroutine_;
};

template <class T>
core::task_awaiter<T> core::task_promise_base::await_transform(task<T>&& child) const noexcept {
  return child.awaited_in(context_);
}

template <class T>
task<T> core::task_promise<T>::get_return_object() noexcept {
  return task<T>(std::coroutine_handle<task_promise>::from_promise(*this));
}

inline task<void> core::task_promise<void>::get_return_object() noexcept {
  return task<void>(std::coroutine_handle<task_promise>::from_promise(*this));
}

}  // namespace weir
