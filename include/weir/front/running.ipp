// spawn, pool and for_each on executors of Asio's; awaitables of Asio's in a pool.

#include <optional>
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
  using type = front::target;
};

namespace front {

/// Constructed before the task that runs there, and gone as soon as that has ended: the future may outlive the context.
struct hosting {
  explicit hosting(const any_executor& where) : host(std::in_place, where) {}
  void leave(core::tenant& guest) noexcept {
    host->delist(guest);
    host.reset();
  }
  std::optional<target> host;
};

template <class T>
class spawned final : private hosting,
                      public core::future_state<T>,
                      public core::detached<task<T>, spawned<T>>,
                      private core::tenant {
  using running = core::detached<task<T>, spawned>;

 public:
  spawned(const any_executor& where, task<T> body, platform::stop_token stop)
      : hosting(where),
        core::future_state<T>(core::future_state<T>::self_made),
        running(executor_ref(*host), std::move(body), std::move(stop)),
        tenant([](core::tenant& evicted) noexcept { static_cast<spawned&>(evicted).destroy_pending(); }) {
    host->enlist(*this);
  }

  void ended(bool) noexcept {
    leave(*this);
    this->tell();
    this->drop();
  }

 private:
  void destroy_pending() noexcept {
    this->destroy_body();
    leave(*this);
    this->abandon();
    this->drop();
  }
};

}  // namespace front

/// Starts a task on an executor of Asio's. Its future is ready once the task has ended and its frame is gone; if the
/// context is destroyed first, so is the task, and the future gets errc::closed.
template <asio_executor E, class T>
future<T> spawn(const E& where, task<T> body, platform::stop_token stop = {}) {
  auto* started = new front::spawned<T>(front::any_executor(where), std::move(body), std::move(stop));
  future<T> given{core::shared<core::future_state<T>>(started)};
  started->post();
  return given;
}

}  // namespace weir
