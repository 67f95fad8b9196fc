// spawn, pool and for_each on Asio executors and execution contexts; Asio awaitables in a pool.

#include <coroutine>
#include <type_traits>
#include <utility>

#include <weir/core/context.hpp>
#include <weir/future.hpp>
#include <weir/pool.hpp>
#include <weir/run/task.hpp>
#include <weir/spawn.hpp>

namespace weir {

template <asio_executor E>
struct core::adapted<E> {
  using type = front::held_target;
  using executor = front::target;
};

namespace front::inline WEIR_FRONT {

/// Attaches a task to its context: a base that is constructed before the task. The task detaches itself as soon as it
/// has ended, because the future may outlive the context.
struct hosted : core::tenant {
  hosted(const any_executor& where, void (*evicted)(core::tenant&) noexcept)
      : tenant(evicted), host(service::reserving(where).lodge(where, *this)) {}
  void leave() noexcept { host.leave(*this); }

  lodging& host;
};

template <class T>
class spawned : private hosted, public core::future_state<T>, public core::detached<task<T>, spawned<T>> {
  using running = core::detached<task<T>, spawned>;

 public:
  spawned(const any_executor& where, task<T> body, const platform::stop_token* stop)
      : hosted(where, [](core::tenant& evicted) noexcept { static_cast<spawned&>(evicted).destroy_pending(); }),
        core::future_state<T>(core::future_state<T>::self_made),
        running(executor_ref(static_cast<target&>(host)), std::move(body), stop) {}

  std::coroutine_handle<> ended() noexcept override { return this->finish(); }

  void post() noexcept {
    if (host.has_ended()) {
      destroy_pending();
    } else {
      running::post();
    }
  }

  void finished() noexcept {
    leave();
    this->tell_others();
    this->drop();
  }

 private:
  void destroy_pending() noexcept {
    this->destroy_body();
    leave();
    this->abandon();
    this->drop();
  }
};

}  // namespace front::inline WEIR_FRONT

/// Starts a task on an Asio executor. Its future is ready once the task has ended and its frame is destroyed; if the
/// context is destroyed first, so is the task, and the future reports errc::closed.
template <asio_executor E, class T>
future<T> spawn(const E& where, task<T> body, platform::stop_token stop = {}) {
  return core::spawn_as<front::spawned<T>>(front::any_executor(where), std::move(body), std::move(stop));
}

/// Starts a task on the executor of an execution context.
template <asio_context C, class T>
future<T> spawn(C& context, task<T> body, platform::stop_token stop = {}) {
  return spawn(context.get_executor(), std::move(body), std::move(stop));
}

}  // namespace weir
