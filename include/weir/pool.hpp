#pragma once

// pool: runs tasks on an executor, at most `limit` at once. Submitting waits for a free slot: no backlog grows inside.
//
//     weir::pool fetches(threads, 5);
//     auto text = co_await fetches.submit(fetch(page));  // waits for a free slot, then yields a future
//     co_await fetches.join();                           // waits for all tasks
//
// Who may call: every member may be called from any thread at any time. The destructor may run concurrently with
// tickets, timers and stop requests, but not with a member call; tasks may outlive the pool.
// Order: slots are granted to waiting submitters in FIFO order; try_submit() does not overtake.
// Cancellation: a submit that gave up has started nothing, and its task is destroyed unstarted.
// Completions: a submitter resumes on its executor, its own thread, or the flat loop of the thread that freed the slot,
// and from there starts its task on the pool's executor.

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <weir/core/admission.hpp>
#include <weir/core/front.hpp>
#include <weir/core/held_executor.hpp>
#include <weir/future.hpp>
#include <weir/run/task.hpp>
#include <weir/spawn.hpp>
#include <weir/wait/operation.hpp>
#include <weir/wait_group.hpp>

#include <weir/pool_slots.ipp>

namespace weir {

/// Runs tasks on an executor, at most `limit` at once.
class pool {
 public:
  /// Throws std::invalid_argument if the limit is 0.
  template <runs_tasks E>
  pool(E&& where, std::size_t limit) : pool(std::forward<E>(where), limit, platform::stop_source()) {}

  /// Uses the caller's stop source: the tasks find its token through this_task().
  template <runs_tasks E>
  pool(E&& where, std::size_t limit, platform::stop_source stops)
      : slots_(new core::pool_slots(core::held_executor(std::forward<E>(where)), check_limit("weir::pool", limit),
                                    std::move(stops))) {}

  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  /// Calls request_stop(). Does not wait for the running tasks: co_await join() first to wait.
  ~pool() { slots_->shut_submits(); }

  template <class Body, class Value>
  class submit_op;

  /// Waits for a free slot, then starts the task and yields its future. Fails with errc::closed after request_stop().
  template <class T>
  auto submit(task<T> body) {
    return submit_body(std::move(body));
  }

  /// Does the same; the result of the task goes into the caller's promise.
  template <class T>
  auto submit(task<T> body, promise<T> into) {
    return submit_body(std::move(body), std::move(into));
  }

  /// Submits an asio::awaitable (or what else an integration can run as a task).
  template <core::front_task Work, class... Promise>
  auto submit(Work&& work, Promise&&... into) {
    return submit_body(as_task(core::front_tag(), std::forward<Work>(work)), std::forward<Promise>(into)...);
  }

  /// Starts the task if a slot is free. Returns an empty optional if none is, or after request_stop(); the caller then
  /// keeps the task.
  template <class T>
  std::optional<future<T>> try_submit(task<T>&& body) {
    if (!body) throw std::invalid_argument(empty_task);
    if (!slots_->try_take()) return std::nullopt;
    return start(*slots_, std::move(body));
  }

  /// Waits until no task runs and no submit waits.
  auto join() noexcept { return slots_->unfinished().wait(); }

  /// The Asio spelling: submit(task)(token). Needs <weir/asio.hpp> or <weir/boost_asio.hpp>.
  template <class Work, class Token>
  decltype(auto) async_submit(Work&& work, Token&& token) {
    return submit(std::forward<Work>(work))(std::forward<Token>(token));
  }
  template <class Work, class T, class Token>
  decltype(auto) async_submit(Work&& work, promise<T> into, Token&& token) {
    return submit(std::forward<Work>(work), std::move(into))(std::forward<Token>(token));
  }
  template <class Token>
  decltype(auto) async_join(Token&& token) {
    return join()(std::forward<Token>(token));
  }

  /// Refuses new work, also from waiting submitters: errc::closed. Asks the running tasks to stop.
  void request_stop() noexcept { slots_->request_stop(); }

  /// Changes the limit. Running tasks above a smaller limit continue; no task is started until fewer run. Throws
  /// std::invalid_argument if the limit is 0.
  void resize(std::size_t limit) { slots_->resize(check_limit("weir::pool::resize", limit)); }

  /// Snapshots, taken without the lock.
  [[nodiscard]] std::size_t running() const noexcept { return slots_->in_use(); }
  [[nodiscard]] std::size_t limit() const noexcept { return slots_->limit(); }
  /// Returns the most tasks that ever ran at once.
  [[nodiscard]] std::size_t peak() const noexcept { return slots_->peak(); }
  /// Returns how many tasks have ended with a value.
  [[nodiscard]] std::size_t completed() const noexcept { return slots_->completed(); }
  /// Returns how many tasks have ended with an exception.
  [[nodiscard]] std::size_t failed() const noexcept { return slots_->failed(); }
  /// Returns how many submits wait for a slot.
  [[nodiscard]] std::size_t waiting() const noexcept { return slots_->waiting(); }

  /// Returns the limit. Throws std::invalid_argument if it is 0.
  static std::size_t check_limit(const char* who, std::size_t limit) {
    if (limit == 0) throw std::invalid_argument(std::string(who) + ": a limit of 0 would never run a task");
    return limit;
  }

  /// Checks the invariants, which hold between any two calls. For tests.
  [[nodiscard]] bool check_invariants() noexcept { return slots_->check_invariants(); }

 private:
  static constexpr const char* empty_task = "weir::pool::submit: the task is empty: it was moved away";

  template <class Body>
  auto submit_body(Body body) {
    using op = submit_op<Body, future<typename Body::value_type>>;
    if (!body) throw std::invalid_argument(empty_task);
    return operation<op>(op(*slots_, std::move(body)));
  }
  template <class Body>
  auto submit_body(Body body, promise<typename Body::value_type> into) {
    if (!into.pending()) throw std::invalid_argument("weir::pool::submit: the promise was set or moved away already");
    if (!body) throw std::invalid_argument(empty_task);
    using op = submit_op<Body, void>;
    return operation<op>(op(*slots_, std::move(body), std::move(into)));
  }

  template <class Body>
  static auto start(core::pool_slots& slots, Body&& body) {
    using state = core::future_state<typename Body::value_type>;
    auto& job = core::started_in<state>(slots, std::forward<Body>(body), state::self_made);
    future<typename Body::value_type> given{core::shared<state>(&job)};
    job.post();
    return given;
  }

  core::shared<core::pool_slots> slots_;
};

/// Body is a task<T>, or what an integration runs as one; Value is future<T>, or void if there is a promise.
template <class Body, class Value>
class pool::submit_op : public core::admission::op<core::pool_slots, void> {
  struct no_promise {};
  using made = typename Body::value_type;
  using into = std::conditional_t<std::is_void_v<Value>, promise<made>, no_promise>;

 public:
  using value_type = Value;
  using node = core::pool_slots::node;

  submit_op(core::pool_slots& slots, Body body, into given = {}) noexcept
      : op(slots), body_(std::move(body)), into_(std::move(given)) {}

  void unused() noexcept {
    [[maybe_unused]] const auto task = std::move(body_);
    [[maybe_unused]] const auto promised = std::move(into_);
  }

  Value take(node&) {
    if constexpr (std::is_void_v<Value>) {
      core::started_in<core::promised<made>>(this->sync(), std::move(body_), std::move(into_)).post();
    } else {
      return pool::start(this->sync(), std::move(body_));
    }
  }

 private:
  Body body_;
  [[no_unique_address]] into into_;
};

}  // namespace weir
