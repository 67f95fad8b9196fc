#pragma once

// The synchronizers, behind one face: each case is an object that nobody can have yet.
//   wait()        what is waited for
//   let_one()     lets exactly one through: the first that waits
//   now_or_never  whether one that asks now would be let through, without waiting; takes it if so

#include <cstddef>
#include <optional>

#include <weir/event.hpp>
#include <weir/mutex.hpp>
#include <weir/semaphore.hpp>

namespace weir::test {

struct semaphore_case {
  std::optional<semaphore> made{std::in_place, 0};
  semaphore& object() { return *made; }
  auto wait() { return object().acquire(); }
  void let_one() { object().release(); }
  void make_ready() { object().release(); }
  bool now_or_never() { return object().try_acquire(); }
  void destroy() { made.reset(); }
};

struct mutex_case {
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

struct event_case {
  std::optional<event> made{std::in_place};
  event& object() { return *made; }
  auto wait() { return object().wait(); }
  void let_one() { object().notify_one(); }
  void make_ready() { object().set(); }
  bool now_or_never() { return object().is_set(); }
  void destroy() { made.reset(); }
};

}  // namespace weir::test
