// The slots of a pool, and the tasks that run in them. Included by pool.hpp.

#include <algorithm>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <utility>

#include <weir/core/admission.hpp>
#include <weir/core/atomic.hpp>
#include <weir/core/completion.hpp>
#include <weir/core/held_executor.hpp>
#include <weir/core/synchronizer.hpp>
#include <weir/core/task_end.hpp>
#include <weir/core/users.hpp>
#include <weir/future.hpp>
#include <weir/spawn.hpp>
#include <weir/wait_group.hpp>

namespace weir::core {

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

  using node = waiter;

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
  [[nodiscard]] bool anything_left(const locked&) const noexcept { return is_free(); }
  static bool fits(const locked&, no_request) noexcept { return true; }
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

}  // namespace weir::core
