#pragma once

// spawn: starts a task on an executor, on its own: with an owner of its own and, if given, a stop token that
// it finds through this_task(). Its future is ready once the task has ended and its frame is gone.

#include <coroutine>
#include <exception>
#include <type_traits>
#include <utility>

#include <weir/core/context.hpp>
#include <weir/future.hpp>
#include <weir/run/task.hpp>

namespace weir {

namespace core {

template <class T>
class spawned final : public future_state<T>, private work, private task_end {
 public:
  static future<T> start(executor_ref where, task<T> body, platform::stop_token stop) {
    auto* self = new spawned(where, std::move(body), std::move(stop));
    self->use();  // its own, until the task has ended
    future<T> given{shared<future_state<T>>(self)};
    where.post(*self);
    return given;
  }

 private:
  spawned(executor_ref where, task<T> body, platform::stop_token stop)
      : work([](work& posted) noexcept {
          auto& self = static_cast<spawned&>(posted);
          self.body_.start(self.context_, self);
        }),
        task_end([](task_end& end) noexcept { return static_cast<spawned&>(end).finish(); }),
        body_(std::move(body)),
        context_(where, owner_id::make(), std::move(stop)) {}

  std::coroutine_handle<> finish() noexcept {
    try {
      this->store(outcome());
    } catch (...) {  // what it returned could not be moved
      this->store(result<T>::failure(std::current_exception()));
    }
    body_ = {};
    this->tell();
    this->drop();
    return std::noop_coroutine();
  }

  result<T> outcome() {
    if (auto thrown = body_.exception()) return result<T>::failure(std::move(thrown));
    if constexpr (std::is_void_v<T>) {
      return {};
    } else {
      return result<T>(std::in_place, body_.take());
    }
  }

  task<T> body_;
  context context_;
};

}  // namespace core

template <executor E, class T>
future<T> spawn(E& where, task<T> body, platform::stop_token stop = {}) {
  return core::spawned<T>::start(executor_ref(where), std::move(body), std::move(stop));
}

}  // namespace weir
