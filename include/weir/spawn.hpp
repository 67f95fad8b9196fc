#pragma once

// spawn: starts a task on an executor, detached, with an owner of its own and, if given, a stop token that it finds
// through this_task(). Its future is ready once the task has ended and its frame is destroyed.

#include <coroutine>
#include <exception>
#include <type_traits>
#include <utility>

#include <weir/core/context.hpp>
#include <weir/future.hpp>
#include <weir/run/task.hpp>

namespace weir {

namespace core {

/// The type that runs a body: a task runs itself.
template <class Body>
struct running_of {
  using type = Body;
};
template <class Body>
  requires requires { typename Body::running; }
struct running_of<Body> {
  using type = typename Body::running;
};

/// Runs a task, or what an integration runs as one, detached. Derived is the task_end that the task notifies, and calls
/// finish() at the end. finish() calls these members of Derived: has_failed(); store(value), and failed(thrown) if
/// moving the value throws; and, once the frame is destroyed, finished(), which may destroy this object. If the result
/// was lost, it calls only evicted().
template <class Body, class Derived>
class detached : private work {
 public:
  /// Starts the task, which may have ended and destroyed this object before the call returns.
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

  /// Takes back the posted work and destroys the body before its end.
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
      } catch (...) {  // the value could not be moved
        self.failed(std::current_exception());
      }
    }
    end_body();
    self.finished();
    return std::noop_coroutine();
  }

 private:
  /// Destroys the body. Runs before the end is reported: after that the executor may be destroyed.
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

/// Starts a task. Most tasks have no stop token, and store none.
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

/// Starts a task on an executor and returns its future. Dropping the future stops nothing.
template <executor E, class T>
future<T> spawn(E& where, task<T> body, platform::stop_token stop = {}) {
  return core::spawn_as<core::spawned<T>>(executor_ref(where), std::move(body), std::move(stop));
}

}  // namespace weir
