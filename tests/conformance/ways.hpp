#pragma once

// The ways of waiting, behind one face. A way W has
//   start<Describe>(test, wait)
//                  starts waiting for Describe(test, wait), an operation that reports a result, and returns when it is
//                  queued or has ended. In the completion test.end(wait, result) is called
//   let_happen(test, n)
//                  lets everything happen that can, until n waits have ended in all
//   name           for the test's
//   in_order       whether those that are told at once go on in order
//   many           how many waits are many
// Only start is compiled for each synchronizer: what it does with what it has described is in ways.cpp.

#include <cstddef>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include <weir/future.hpp>
#include <weir/run/task.hpp>

#include <conformance/subject.hpp>
#include <support/foreign.hpp>
#include <support/manual_executor.hpp>

namespace weir::test {

/// By a coroutine.
template <class Coroutine, auto Describe, class Subject>
Coroutine wait_for(Subject& test, const asked& wait) {
  auto outcome = co_await Describe(test, wait);
  test.end(wait, outcome);
}

/// A callback.
template <class Subject>
struct ending {
  Subject* test;
  const asked* wait;
  void operator()(typename Subject::outcome_type&& outcome) const { test->end(*wait, outcome); }
};

/// A coroutine of a type that weir does not know: it goes on in the flat loop.
class coroutine_way {
 public:
  static constexpr auto name = "coroutine";
  static constexpr bool in_order = true;
  static constexpr int many = 1'000;

  coroutine_way();
  ~coroutine_way();

  template <auto Describe, class Subject>
  void start(Subject& test, const asked& wait) {
    keep(wait_for<foreign, Describe>(test, wait));
  }
  void let_happen(subject&, std::size_t) {}

 private:
  void keep(foreign started) noexcept;

  std::vector<foreign> waits_;
};

/// The test's clock is the one of use_timers.
class executor_without_timers {
 public:
  void post(work& item) noexcept { inner_.post(item); }
  bool retract(work& item) noexcept { return inner_.retract(item); }
  void run_all() noexcept { inner_.run_all(); }

 private:
  manual_executor inner_;
};

/// A task on an executor.
class task_way {
 public:
  static constexpr auto name = "task";
  static constexpr bool in_order = true;
  static constexpr int many = 1'000;

  task_way();
  ~task_way();

  template <auto Describe, class Subject>
  void start(Subject& test, const asked& wait) {
    run(wait_for<task<>, Describe>(test, wait));
  }
  void let_happen(subject&, std::size_t);

 private:
  void run(task<> waiting) noexcept;

  executor_without_timers executor_;
  std::vector<future<>> spawned_;
};

class callback_way {
 public:
  static constexpr auto name = "callback";
  static constexpr bool in_order = true;
  static constexpr int many = 1'000;

  callback_way();
  ~callback_way();

  template <auto Describe, class Subject>
  void start(Subject& test, const asked& wait) {
    keep(Describe(test, wait).start(ending<Subject>{&test, &wait}));
  }
  void let_happen(subject&, std::size_t) {}

 private:
  void keep(ticket started) noexcept;

  std::vector<ticket> tickets_;
};

/// An executor that cannot retract.
class posting_executor {
 public:
  void post(work& item) noexcept { inner_.post(item); }
  void run_all() noexcept { inner_.run_all(); }

 private:
  manual_executor inner_;
};

/// A callback that is posted to an executor.
class posted_callback_way {
 public:
  static constexpr auto name = "posted_callback";
  static constexpr bool in_order = true;
  static constexpr int many = 1'000;

  posted_callback_way();
  ~posted_callback_way();

  template <auto Describe, class Subject>
  void start(Subject& test, const asked& wait) {
    run(Describe(test, wait).resume_on(executor_).start(ending<Subject>{&test, &wait}));
  }
  void let_happen(subject&, std::size_t);

 private:
  void run(ticket started) noexcept;

  posting_executor executor_;
  std::vector<ticket> tickets_;
};

/// Blocked threads. They wake in any order: a test that asks for the order lets them through one by one.
class thread_way {
 public:
  static constexpr auto name = "thread";
  static constexpr bool in_order = false;
  static constexpr int many = 100;

  thread_way();
  ~thread_way();

  template <auto Describe, class Subject>
  void start(Subject& test, const asked& wait) {
    run(test, wait, [](subject& base, const asked& described) {
      auto& waiting = static_cast<Subject&>(base);
      auto outcome = Describe(waiting, described).wait();
      waiting.end(described, outcome);
    });
  }
  void let_happen(subject& test, std::size_t n);

 private:
  void run(subject& test, const asked& wait, void (*waiting)(subject&, const asked&)) noexcept;

  std::vector<std::jthread> threads_;
};

}  // namespace weir::test
