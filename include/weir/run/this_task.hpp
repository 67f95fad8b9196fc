#pragma once

// yield() and this_task(): a task lets other work run first, or asks for its own owner and stop token.

#include <coroutine>
#include <utility>

#include <weir/core/atomic.hpp>
#include <weir/core/context.hpp>

namespace weir {

namespace core {

class [[nodiscard("yield() does nothing until it is awaited")]] yielding : private work {
 public:
  yielding() noexcept = default;
  yielding(const yielding&) = delete;
  yielding& operator=(const yielding&) = delete;
  ~yielding() {
    if (suspended_) executor().retract(*this);
  }

  void enter(context& where) noexcept { context_ = &where; }
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> owner) noexcept {
    owner_ = owner;
    suspended_ = true;
    run_ = [](work& posted) noexcept {
      auto& self = static_cast<yielding&>(posted);
      const running_task resumed(self.context_);
      self.owner_.resume();
    };
    executor().post(*this);
  }
  void await_resume() noexcept {
    suspended_ = false;
    if (context_ != nullptr) context_->away = false;
  }

 private:
  [[nodiscard]] executor_ref executor() const noexcept {
    return context_ != nullptr ? context_->executor : executor_ref();
  }

  context* context_ = nullptr;
  std::coroutine_handle<> owner_;
  bool suspended_ = false;
};

}  // namespace core

/// Resumes the task after everything that its executor has ready.
inline core::yielding yield() noexcept { return {}; }

/// The identity of a task: the owner of its locks, and the stop token that it was spawned with.
struct task_identity {
  /// Built by `co_await this_task()`.
  task_identity(owner_id who, platform::stop_token stopped) noexcept : owner(who), stop(std::move(stopped)) {}

  /// The owner for locks, and the token for stop_on().
  owner_id owner;
  platform::stop_token stop;
};

namespace core {

class [[nodiscard("this_task() tells nothing until it is awaited")]] identifying {
 public:
  identifying() noexcept = default;
  void enter(const context& where) noexcept { context_ = &where; }
  bool await_ready() const noexcept { return true; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  task_identity await_resume() const noexcept {
    if (context_ == nullptr) return {{}, {}};
    return {context_->owner(), context_->stop != nullptr ? *context_->stop : platform::stop_token()};
  }

 private:
  const context* context_ = nullptr;
};

}  // namespace core

/// Returns the identity of the awaiting task: `auto me = co_await weir::this_task()`.
inline core::identifying this_task() noexcept { return {}; }

}  // namespace weir
