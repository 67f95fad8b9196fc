#pragma once

// sync_wait: runs a task to its end on the calling thread. The task's executor is a run_loop inside the call. The owner
// of its locks is this thread or, if this thread runs a task already, that task.

#include <coroutine>
#include <utility>

#include <weir/core/context.hpp>
#include <weir/core/task_end.hpp>
#include <weir/run/run_loop.hpp>
#include <weir/run/task.hpp>

namespace weir {

/// Returns what the task returns, or rethrows its exception.
template <class T>
T sync_wait(task<T> waited) {
  class here final : public work, public core::task_outcome {
   public:
    explicit here(task<T>& waited)
        : work([](work& posted) noexcept {
            auto& self = static_cast<here&>(posted);
            const core::running_task started(&self.context_);
            self.waited_.start(self.context_, self);
          }),
          waited_(waited) {}

    void run_to_the_end() noexcept {
      loop_.post(*this);
      loop_.run();
    }

    std::coroutine_handle<> ended() noexcept override {
      loop_.finish();
      return std::noop_coroutine();
    }

   private:
    task<T>& waited_;
    alignas(64) run_loop loop_;  // one cache line: a post from another thread moves no other
    core::context context_{loop_, core::blocking_owner(), {}};
  };

  here outcome(waited);
  outcome.run_to_the_end();
  outcome.rethrow_failure();
  return waited.take();
}

}  // namespace weir
