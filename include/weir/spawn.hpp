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

/// What runs a body: a task does that itself.
template <class Body>
struct running_of {
  using type = Body;
};
template <class Body>
  requires requires { typename Body::running; }
struct running_of<Body> {
  using type = typename Body::running;
};

/// A task, or what a front runs as one, on its own. Derived is the task_end that it tells, which calls finish() at the
/// end, and says what happens to what it comes to: store(value), which may throw what moving that throws,
/// failed(thrown), has_failed(); and then, when the frame is gone, finished(), which may destroy it. If there is
/// nothing to come to any more, evicted() instead of all that.
template <class Body, class Derived>
class detached : private work {
 public:
  /// It may have ended, and be gone, before this returns.
  void post() noexcept { context_.executor.post(*this); }

 protected:
  detached(executor_ref where, Body body, const platform::stop_token* stop) noexcept
      : work([](work& posted) noexcept {
          auto& self = static_cast<detached&>(posted);
          const running_task started(&self.context_);
          self.body_.start(self.context_, static_cast<Derived&>(self));
        }),
        body_(std::move(body)),
        context_(where, owner_id::make(), stop) {
    where.count_tasks(+1);
  }
  ~detached() = default;

  /// By the executor that goes before it has ended.
  void destroy_body() noexcept {
    context_.executor.retract(*this);
    end_body();
  }

  std::coroutine_handle<> finish() noexcept {
    auto& self = static_cast<Derived&>(*this);
    if constexpr (requires { body_.lost(); }) {
      if (body_.lost()) {
        self.evicted();
        return std::noop_coroutine();
      }
    }
    if (!self.has_failed()) {
      try {
        store_value(self);
      } catch (...) {  // what it returned could not be moved
        self.failed(std::current_exception());
      }
    }
    end_body();
    self.finished();
    return std::noop_coroutine();
  }

 private:
  /// Before anybody knows that it has ended: then the executor may be destroyed.
  void end_body() noexcept {
    body_ = {};
    context_.executor.count_tasks(-1);
  }

  void store_value(Derived& self) {
    if constexpr (std::is_void_v<typename Body::value_type>) {
      self.store();
    } else {
      self.store(body_.take());
    }
  }

  typename running_of<Body>::type body_;
  context context_;
};

template <class T>
class spawned : public future_state<T>, public detached<task<T>, spawned<T>> {
 public:
  spawned(executor_ref where, task<T> body, const platform::stop_token* stop) noexcept
      : future_state<T>(future_state<T>::self_made), detached<task<T>, spawned>(where, std::move(body), stop) {}

  std::coroutine_handle<> ended() noexcept override { return this->finish(); }

  void finished() noexcept {
    this->tell_others();
    this->drop();
  }
};

struct kept_token {
  platform::stop_token token;
};

template <class Spawned>
class spawned_with_token final : private kept_token, public Spawned {
 public:
  template <class Where, class T>
  spawned_with_token(const Where& where, task<T> body, platform::stop_token stop)
      : kept_token{std::move(stop)}, Spawned(where, std::move(body), &token) {}
};

/// Starts it. Most tasks have no token, and no room for one.
template <class Spawned, class Where, class T>
future<T> spawn_as(const Where& where, task<T> body, platform::stop_token stop) {
  Spawned* const started = stop.stop_possible()
                               ? new spawned_with_token<Spawned>(where, std::move(body), std::move(stop))
                               : new Spawned(where, std::move(body), nullptr);
  future<T> given{shared<future_state<T>>(started)};
  started->post();
  return given;
}

}  // namespace core

/// Starts a task on an executor. Dropping its future stops nothing.
template <executor E, class T>
future<T> spawn(E& where, task<T> body, platform::stop_token stop = {}) {
  return core::spawn_as<core::spawned<T>>(executor_ref(where), std::move(body), std::move(stop));
}

}  // namespace weir
