#pragma once

// The synchronizers, behind one face: each case is an object that nobody can have yet.
//   object()      with waiting(), close(), closed(), check_invariants() and, where there is one, cancel_all()
//   wait()        what is waited for
//   make_ready()  what is waited for is there: for the first that waits, or for all
//   let_one()     lets exactly one through: the first that waits. Only where they go one by one
//   now_or_never  whether one that asks now would be let through, without waiting; takes it if so
//   destroy()     the object is no more: at the latest at the end of the test, once more does nothing
//   closed_error  what a wait gets when the object is closed
//   is_success    whether a wait that ended with this was let through
//   keep(value)   where a value has to stay with who won it, until the next is let through

#include <chrono>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <system_error>
#include <utility>

#include <weir/auto_reset_event.hpp>
#include <weir/barrier.hpp>
#include <weir/event.hpp>
#include <weir/future.hpp>
#include <weir/guarded.hpp>
#include <weir/latch.hpp>
#include <weir/mutex.hpp>
#include <weir/pool.hpp>
#include <weir/queue.hpp>
#include <weir/recursive_mutex.hpp>
#include <weir/select.hpp>
#include <weir/semaphore.hpp>
#include <weir/shared_mutex.hpp>
#include <weir/wait_group.hpp>

namespace weir::test {

/// Has it now, or not at all.
template <class Operation>
bool asks_now(Operation wanted) {
  return std::move(wanted).within(std::chrono::seconds(0)).wait().has_value();
}

/// A case of one Object, which ends as most do.
template <class Object>
struct case_of {
  std::optional<Object> made;
  template <class... Args>
  explicit case_of(Args&&... args) : made(std::in_place, std::forward<Args>(args)...) {}

  Object& object() { return *made; }
  void destroy() { made.reset(); }
  static std::error_code closed_error() { return errc::closed; }
  static bool is_success(std::error_code error) { return !error; }
};

// One by one.

struct semaphore_case : case_of<semaphore> {
  semaphore_case() : case_of(0u) {}
  auto wait() { return object().acquire(); }
  void let_one() { object().release(); }
  void make_ready() { object().release(); }
  bool now_or_never() { return object().try_acquire(); }
};

/// A lock for one, which somebody has.
template <class Mutex>
struct lock_case : case_of<Mutex> {
  lock_case() { (void)this->object().try_lock(); }
  auto wait() { return this->object().lock(); }
  void let_one() { this->object().unlock(); }
  void make_ready() { this->object().unlock(); }
  bool now_or_never() { return this->object().try_lock(); }
  void destroy() {
    if (!this->made) return;
    this->object().close();
    if (this->object().locked()) this->object().unlock();
    this->made.reset();
  }
};
using mutex_case = lock_case<mutex>;
using recursive_mutex_case = lock_case<recursive_mutex>;
using shared_mutex_lock_case = lock_case<shared_mutex>;

struct guarded_case : case_of<guarded<int>> {
  guarded<int>::reference held = object().try_lock();
  auto wait() { return object().lock(); }
  void keep(guarded<int>::reference won) { held = std::move(won); }
  void let_one() { const auto unlocked = std::move(held); }  // the next keeps its own before this one has returned
  void make_ready() { let_one(); }
  bool now_or_never() {
    auto won = object().try_lock();
    if (!won) return false;
    held = std::move(won);
    return true;
  }
  void destroy() {
    if (!made) return;
    object().close();
    let_one();
    made.reset();
  }
};

struct event_case : case_of<event> {
  auto wait() { return object().wait(); }
  void let_one() { object().notify_one(); }
  void make_ready() { object().set(); }
  bool now_or_never() { return object().is_set(); }
};

struct auto_reset_event_case : case_of<auto_reset_event> {
  auto wait() { return object().wait(); }
  void let_one() { object().set(); }
  void make_ready() { object().set(); }
  bool now_or_never() { return asks_now(wait()); }
};

struct queue_push_case : case_of<queue<int>> {
  queue_push_case() : case_of(1u) { (void)object().try_push(0); }
  auto wait() { return object().push(1L); }  // made into an int in the operation
  void let_one() { (void)object().try_pop(); }
  void make_ready() { (void)object().try_pop(); }
  bool now_or_never() { return object().try_push(2); }
};

struct queue_pop_case : case_of<queue<int>> {
  auto wait() { return object().pop(); }
  void let_one() { (void)object().try_push(1); }
  void make_ready() { (void)object().try_push(1); }
  bool now_or_never() { return object().try_pop().has_value(); }
  static std::error_code closed_error() { return {}; }  // the success of having come to the end
};

/// A pool closes by being asked to stop, and does not withdraw all.
class closable_pool : public pool {
 public:
  template <executor E>
  closable_pool(E& where, std::size_t limit, std::stop_source stops) : pool(where, limit, stops), stops_(stops) {}
  void close() noexcept { request_stop(); }
  [[nodiscard]] bool closed() const noexcept { return stops_.stop_requested(); }

 private:
  std::stop_source stops_;
};

struct pool_slot {
  inline_executor here;
  auto_reset_event end;
  task<> ends_by_hand() { (void)co_await end.wait().as_result(); }
};

/// Of one slot, in which a task runs.
struct pool_submit_case : pool_slot, case_of<closable_pool> {  // in this order: a task may outlive its pool
  pool_submit_case() : case_of(here, 1u, std::stop_source()) { now_or_never(); }
  auto wait() { return object().submit(ends_by_hand()); }
  void let_one() { end.set(); }
  void make_ready() { end.set(); }
  bool now_or_never() { return object().try_submit(ends_by_hand()).has_value(); }
};

struct select_case : semaphore_case {
  event never;
  auto wait() { return select(never.wait(), object().acquire()); }
};

// Together.

struct event_set_case : case_of<event> {
  auto wait() { return object().wait(); }
  void make_ready() { object().set(); }
  bool now_or_never() { return object().is_set(); }
};

struct latch_case : case_of<latch> {
  latch_case() : case_of(1u) {}
  auto wait() { return object().wait(); }
  void make_ready() { object().count_down(); }
  bool now_or_never() { return object().try_wait(); }
};

struct wait_group_case : case_of<wait_group> {
  wait_group_case() { object().add(); }
  auto wait() { return object().wait(); }
  void make_ready() { object().done(); }
  bool now_or_never() { return asks_now(wait()); }
};

struct barrier_case : case_of<barrier> {
  barrier_case() : case_of(2u) {}
  barrier::token first = object().arrive();
  auto wait() { return object().wait(first); }
  void make_ready() { (void)object().arrive(); }
  bool now_or_never() { return asks_now(wait()); }
};

/// Readers behind a writer.
struct shared_mutex_lock_shared_case : case_of<shared_mutex> {
  shared_mutex_lock_shared_case() { (void)object().try_lock(); }
  auto wait() { return object().lock_shared(); }
  void make_ready() { object().unlock(); }
  bool now_or_never() { return object().try_lock_shared(); }
  void destroy() {
    if (!made) return;
    object().close();
    if (object().locked()) object().unlock();
    while (object().readers() != 0) object().unlock_shared();
    made.reset();
  }
};

/// Several get() of one future: all are told, and one has the value. Who waits only the state knows that it shares with
/// its promise.
struct future_get_case {
  using state = core::future_state<int>;
  core::shared<state> promised{new state};
  future<int> given{promised};

  event& object() { return promised->ready(); }
  auto wait() { return given.get(); }
  void make_ready() {
    promised->store(1);
    promised->tell();
  }
  bool now_or_never() { return asks_now(wait()); }
  void destroy() {
    if (!promised) return;
    promised->abandon();
    promised = {};
    given = {};
  }
  static std::error_code closed_error() { return errc::closed; }
  static bool is_success(std::error_code error) { return !error || error == errc::failed; }
};

}  // namespace weir::test
