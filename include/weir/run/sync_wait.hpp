#pragma once

// sync_wait: runs a task to its end on the calling thread. The task's executor is a run_loop of this call,
// and what it locks belongs to this thread.

#include <utility>

#include <weir/core/context.hpp>
#include <weir/run/run_loop.hpp>
#include <weir/run/task.hpp>

namespace weir {

/// What the task returns, or its exception, rethrown.
template <class T>
T sync_wait(task<T> waited) {
  class here : public work, public core::task_end {
   public:
    explicit here(task<T>& waited)
        : work([](work& posted) noexcept {
            auto& self = static_cast<here&>(posted);
            self.waited_.start(self.context_, self);
          }),
          task_end([](task_end& end) noexcept -> std::coroutine_handle<> {
            static_cast<here&>(end).loop_.finish();
            return std::noop_coroutine();
          }),
          waited_(waited) {}

    void run_to_the_end() noexcept {
      loop_.post(*this);
      loop_.run();
    }

   private:
    task<T>& waited_;
    run_loop loop_;
    core::context context_{loop_, owner_id::this_thread(), {}};
  };

  here(waited).run_to_the_end();
  return waited.take();
}

}  // namespace weir
