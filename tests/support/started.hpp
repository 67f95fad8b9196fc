#pragma once

#include <coroutine>
#include <utility>

#include <weir/core/context.hpp>
#include <weir/core/task_end.hpp>
#include <weir/run/task.hpp>

namespace weir::test {

/// A task that the test starts, and may destroy wherever it stands.
template <class T = void>
class started final : private core::task_outcome {
 public:
  started(executor_ref where, task<T> body) : context_(where, owner_id::make(), {}), body_(std::move(body)) {
    body_.start(context_, *this);
  }
  [[nodiscard]] bool has_ended() const { return ended_; }
  void destroy() { body_ = {}; }
  T take() {
    rethrow_failure();
    return body_.take();
  }

 private:
  std::coroutine_handle<> ended() noexcept override {
    ended_ = true;
    return std::noop_coroutine();
  }

  core::context context_;
  task<T> body_;
  bool ended_ = false;
};

}  // namespace weir::test
