#pragma once

// What a task can ask of the place where it runs: co_await yield() and co_await this_task().

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

/// Lets everything go first that its executor has ready; then goes on.
inline core::yielding yield() noexcept { return {}; }

/// Who a task is: the owner of what it locks, and the stop token that its spawner gave it.
struct task_identity {
  /// What `co_await this_task()` gives.
  task_identity(owner_id who, platform::stop_token stopped) noexcept : owner(who), stop(std::move(stopped)) {}

  /// For locks, and for stop_on().
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

/// Who asks: `auto me = co_await weir::this_task()`.
inline core::identifying this_task() noexcept { return {}; }

}  // namespace weir
