#pragma once

// What a task tells whoever has started it: what it threw, and that it has ended. What it returned stays in its frame.

#include <coroutine>
#include <exception>
#include <utility>

namespace weir::core {

class task_end {
 public:
  task_end() noexcept = default;
  task_end(const task_end&) = delete;
  task_end& operator=(const task_end&) = delete;

  /// By a task that throws, before it ends.
  virtual void failed(std::exception_ptr thrown) noexcept = 0;

  /// Answers what the thread is to resume next. It may destroy the task.
  virtual std::coroutine_handle<> ended() noexcept { return std::noop_coroutine(); }

 protected:
  ~task_end() = default;
};

/// Of somebody who waits for the end, and then rethrows.
class task_outcome : public task_end {
 public:
  void failed(std::exception_ptr thrown) noexcept final { thrown_ = std::move(thrown); }

  /// After the end.
  void rethrow_failure() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 protected:
  ~task_outcome() = default;

 private:
  std::exception_ptr thrown_;
};

}  // namespace weir::core
