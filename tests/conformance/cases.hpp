#pragma once

// The synchronizers, behind one face: each case is an object that nobody can have yet.
//   wait()        what is waited for
//   let_one()     lets exactly one through: the first that waits
//   now_or_never  whether one that asks now would be let through, without waiting; takes it if so
//   closed_error  what a wait gets when the object is closed

#include <chrono>
#include <cstddef>
#include <optional>
#include <system_error>
#include <utility>

#include <weir/auto_reset_event.hpp>
#include <weir/event.hpp>
#include <weir/mutex.hpp>
#include <weir/queue.hpp>
#include <weir/select.hpp>
#include <weir/semaphore.hpp>

namespace weir::test {

struct fails_when_closed {
  static std::error_code closed_error() { return errc::closed; }
};

struct semaphore_case : fails_when_closed {
  std::optional<semaphore> made{std::in_place, 0};
  semaphore& object() { return *made; }
  auto wait() { return object().acquire(); }
  void let_one() { object().release(); }
  void make_ready() { object().release(); }
  bool now_or_never() { return object().try_acquire(); }
  void destroy() { made.reset(); }
};

struct mutex_case : fails_when_closed {
  std::optional<mutex> made{std::in_place};
  mutex_case() { object().try_lock(); }
  ~mutex_case() {
    if (made && object().locked()) object().unlock();
  }
  mutex& object() { return *made; }
  auto wait() { return object().lock(); }
  void let_one() { object().unlock(); }
  void make_ready() { object().unlock(); }
  bool now_or_never() { return object().try_lock(); }
  void destroy() {
    if (object().locked()) {
      object().close();
      object().unlock();
    }
    made.reset();
  }
};

struct event_case : fails_when_closed {
  std::optional<event> made{std::in_place};
  event& object() { return *made; }
  auto wait() { return object().wait(); }
  void let_one() { object().notify_one(); }
  void make_ready() { object().set(); }
  bool now_or_never() { return object().is_set(); }
  void destroy() { made.reset(); }
};

struct auto_reset_event_case : fails_when_closed {
  std::optional<auto_reset_event> made{std::in_place};
  auto_reset_event& object() { return *made; }
  auto wait() { return object().wait(); }
  void let_one() { object().set(); }
  void make_ready() { object().set(); }
  bool now_or_never() { return object().wait().within(std::chrono::seconds(0)).wait().has_value(); }
  void destroy() { made.reset(); }
};

struct queue_push_case : fails_when_closed {
  std::optional<queue<int>> made{std::in_place, 1};
  queue_push_case() { (void)object().try_push(0); }
  queue<int>& object() { return *made; }
  auto wait() { return object().push(1L); }  // made into an int in the operation
  void let_one() { (void)object().try_pop(); }
  void make_ready() { (void)object().try_pop(); }
  bool now_or_never() { return object().try_push(2); }
  void destroy() { made.reset(); }
};

struct queue_pop_case {
  std::optional<queue<int>> made{std::in_place};
  queue<int>& object() { return *made; }
  auto wait() { return object().pop(); }
  void let_one() { (void)object().try_push(1); }
  void make_ready() { (void)object().try_push(1); }
  bool now_or_never() { return object().try_pop().has_value(); }
  void destroy() { made.reset(); }
  static std::error_code closed_error() { return {}; }  // the success of having come to the end
};

struct select_case : fails_when_closed {
  std::optional<semaphore> made{std::in_place, 0};
  event never;
  semaphore& object() { return *made; }
  auto wait() { return select(never.wait(), object().acquire()); }
  void let_one() { object().release(); }
  void make_ready() { object().release(); }
  bool now_or_never() { return object().try_acquire(); }
  void destroy() { made.reset(); }
};

}  // namespace weir::test
