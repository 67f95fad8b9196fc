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

#include <algorithm>
#include <coroutine>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <weir/core/admission.hpp>
#include <weir/core/atomic.hpp>
#include <weir/core/completion.hpp>
#include <weir/core/front.hpp>
#include <weir/core/held_executor.hpp>
#include <weir/core/synchronizer.hpp>
#include <weir/core/task_end.hpp>
#include <weir/core/users.hpp>
#include <weir/future.hpp>
#include <weir/run/task.hpp>
#include <weir/spawn.hpp>
#include <weir/wait/operation.hpp>
#include <weir/wait_group.hpp>

namespace weir {

namespace core {

/// Counts the unfinished tasks, and reports the first and the last of them to the pool.
class unfinished_tasks : public wait_group {
 public:
  using wait_group::begin;
  using wait_group::end;
};

/// The slots of a pool, shared with the tasks that run in it.
///
/// state: locked, queued, closed (core/synchronizer.hpp); all else is under the lock.
///
/// I1  A slot is in use from the grant of a submit until the end of its task. No slot is granted while limit or more
///     are in use.
/// I2  Undecided submits are queued only while it is open and no slot is free.
/// I3  unfinished_ counts the slots in use and the freed ones whose future has not been notified yet.
/// I4  users_ counts the pool as one and all unfinished tasks together as one: so a task changes one count only.
class pool_slots final : public synchronizer {
 public:
  pool_slots(held_executor where, std::size_t limit, platform::stop_source stops) noexcept
      : synchronizer(0),
        where_(std::move(where)),
        stops_(std::move(stops)),
        token_(stops_.get_token()),
        limit_(limit) {}

  void drop() noexcept {
    if (users_.leave()) delete this;
  }

  [[nodiscard]] executor_ref where() const noexcept { return where_.where(); }
  [[nodiscard]] const platform::stop_token& stop_token() const noexcept { return token_; }
  [[nodiscard]] wait_group& unfinished() noexcept { return unfinished_; }

  using node = admission::node;

  bool try_take() noexcept { return take_now({}) == outcome::granted; }

  enum class end { value, exception, unstarted };

  /// Frees a slot. The caller then notifies the future, and then calls finished().
  void free_slot(end how) noexcept {
    completion done;
    locked lock(*this);
    if (how == end::value) add(completed_, 1);
    if (how == end::exception) add(failed_, 1);
    in_use_.store(read(in_use_) - 1, std::memory_order_relaxed);  // relaxed: written under the lock, as all counts
    admission::serve(*this, lock, done);                          // I2
  }

  void finished() noexcept {
    completion joined;                    // notifies after drop() has released the slots and their executor
    if (unfinished_.end(joined)) drop();  // I4
  }

  /// Returns a slot that was taken and not used.
  void return_slot() noexcept {
    free_slot(end::unstarted);
    finished();
  }

  void resize(std::size_t limit) noexcept {
    completion done;
    locked lock(*this);
    limit_.store(limit, std::memory_order_relaxed);  // relaxed: see free_slot
    admission::serve(*this, lock, done);             // I2
  }

  void request_stop() noexcept {
    auto stops = stops_;  // a copy: a notified submitter or a stopped task may destroy the pool
    close();
    stops.request_stop();
  }

  /// Called by the destructor of the pool: ends all waits. The tasks keep running.
  void shut_submits() noexcept {
    request_stop();
    unfinished_.close();
    shut();
  }

  [[nodiscard]] std::size_t in_use() const noexcept { return read(in_use_); }
  [[nodiscard]] std::size_t limit() const noexcept { return read(limit_); }
  [[nodiscard]] std::size_t peak() const noexcept { return read(peak_); }
  [[nodiscard]] std::size_t completed() const noexcept { return read(completed_); }
  [[nodiscard]] std::size_t failed() const noexcept { return read(failed_); }

  [[nodiscard]] bool check_invariants() noexcept {
    locked lock(*this);
    return (!anybody_waits(lock) || (!lock.closed() && !is_free())) && peak() >= in_use();  // I2
  }

 private:
  friend struct admission;
  using count = platform::atomic<std::size_t>;

  ~pool_slots() = default;

  // relaxed: see free_slot
  static std::size_t read(const count& value) noexcept { return value.load(std::memory_order_relaxed); }
  static void add(count& value, std::size_t more) noexcept {
    value.store(read(value) + more, std::memory_order_relaxed);  // relaxed: see free_slot
  }

  [[nodiscard]] bool is_free() const noexcept { return in_use() < limit(); }

  outcome take_now(no_request wanted) noexcept { return admission::take_locked(*this, wanted); }
  outcome judge(const locked& lock, no_request) const noexcept {
    if (lock.closed()) return outcome::closed;
    return is_free() ? outcome::granted : outcome::pending;  // I2: if one is free, no submit is queued
  }
  [[nodiscard]] bool left(const locked&) const noexcept { return is_free(); }
  void give_back(no_request) noexcept { return_slot(); }

  void take(const locked&, no_request) noexcept {
    add(in_use_, 1);
    peak_.store(std::max(peak(), in_use()), std::memory_order_relaxed);  // relaxed: see free_slot
    if (unfinished_.begin()) users_.add();  // I3, I4: its caller is the pool or an unfinished task
  }

  held_executor where_;
  platform::stop_source stops_;
  const platform::stop_token token_;  // for all tasks: each points to it
  unfinished_tasks unfinished_;
  users users_{1};
  count limit_;
  count in_use_{0};
  count peak_{0};
  count completed_{0};
  count failed_{0};
};

/// Stores the result of a task in a promise that the caller has passed in.
template <class T>
class promised : public task_end {
 public:
  explicit promised(promise<T> given) noexcept : promise_(std::move(given)) {}

  template <class... Value>
  void store(Value&&... value) {
    promise_.state_->store(std::forward<Value>(value)...);
  }
  void failed(std::exception_ptr thrown) noexcept final { promise_.state_->failed(std::move(thrown)); }
  [[nodiscard]] bool has_failed() const noexcept { return promise_.state_->has_failed(); }
  void tell_others() noexcept {
    promise_.state_->claim();  // succeeds: it was moved here unset
    promise_.state_->tell();
  }
  void abandon() noexcept { const auto dropped = std::move(promise_); }
  void drop() noexcept { delete this; }

 protected:
  virtual ~promised() = default;

 private:
  promise<T> promise_;
};

/// A task in a slot. Its future becomes ready after the slot is free and counted, and before join() completes.
template <class Body, class Sink>
class pool_job final : public Sink, public detached<Body, pool_job<Body, Sink>>, private tenant {
 public:
  template <class... Given>
  pool_job(pool_slots& slots, Body body, Given&&... given) noexcept
      : Sink(std::forward<Given>(given)...),
        detached<Body, pool_job>(slots.where(), std::move(body), &slots.stop_token()),
        tenant([](tenant& evicted) noexcept { static_cast<pool_job&>(evicted).evicted(); }),
        slots_(slots) {}

  /// Starts the task, which may have ended and destroyed this job before the call returns.
  void post() noexcept {
    if (slots_.where().enlist(*this)) {
      detached<Body, pool_job>::post();
    } else {
      this->destroy_body();
      end_unstarted();
    }
  }

  std::coroutine_handle<> ended() noexcept override { return this->finish(); }

  void finished() noexcept {
    slots_.where().delist(*this);
    slots_.free_slot(this->has_failed() ? pool_slots::end::exception : pool_slots::end::value);
    this->tell_others();
    slots_.finished();
    this->drop();
  }

  /// Called when the executor is being destroyed, or when Asio has dropped the task's completion.
  void evicted() noexcept {
    this->destroy_body();
    slots_.where().delist(*this);
    end_unstarted();
  }

 private:
  void end_unstarted() noexcept {
    slots_.free_slot(pool_slots::end::unstarted);
    this->abandon();
    slots_.finished();
    this->drop();
  }

  pool_slots& slots_;
};

/// Creates the job in a slot that was taken for it. If there is no memory, the slot is freed and the task is not moved.
template <class Sink, class Body, class... Given>
pool_job<Body, Sink>& started_in(pool_slots& slots, Body&& body, Given&&... given) {
  try {
    return *new pool_job<Body, Sink>(slots, std::forward<Body>(body), std::forward<Given>(given)...);
  } catch (...) {  // thrown by `new`, before anything was moved
    slots.return_slot();
    throw;
  }
}

}  // namespace core

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
      : op(slots), slots_(&slots), body_(std::move(body)), into_(std::move(given)) {}

  void unused() noexcept {
    [[maybe_unused]] const auto task = std::move(body_);
    [[maybe_unused]] const auto promised = std::move(into_);
  }

  Value take(node&) {
    if constexpr (std::is_void_v<Value>) {
      core::started_in<core::promised<made>>(*slots_, std::move(body_), std::move(into_)).post();
    } else {
      return pool::start(*slots_, std::move(body_));
    }
  }

 private:
  core::pool_slots* slots_;
  Body body_;
  [[no_unique_address]] into into_;
};

}  // namespace weir
