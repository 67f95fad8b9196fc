#pragma once

// task_end: how a task notifies its starter of an exception, and of its end. The value that it returned stays in its
// frame.

#include <coroutine>
#include <exception>
#include <utility>

namespace weir::core {

class task_end {
 public:
  task_end() noexcept = default;
  task_end(const task_end&) = delete;
  task_end& operator=(const task_end&) = delete;

  /// Called by a task that throws, before it ends.
  virtual void failed(std::exception_ptr thrown) noexcept = 0;

  /// Called when the task has ended. Returns the coroutine that the thread resumes next. May destroy the task.
  virtual std::coroutine_handle<> ended() noexcept { return std::noop_coroutine(); }

 protected:
  ~task_end() = default;
};

/// The task_end of a starter that waits for the end and then rethrows the exception.
class task_outcome : public task_end {
 public:
  void failed(std::exception_ptr thrown) noexcept final { thrown_ = std::move(thrown); }

  /// Called after the end.
  void rethrow_failure() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 protected:
  ~task_outcome() = default;

 private:
  std::exception_ptr thrown_;
};

}  // namespace weir::core
