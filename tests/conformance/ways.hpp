#pragma once

// The ways of waiting, behind one face: each starts waits on behalf of a test and says what became of them.
// A way W has
//   start(object, id, make, and_then)
//                starts waiting for make(), an operation that reports a result, and returns when it is queued or has
//                ended. In the completion and_then(result) is called, before the log is written
//   expect(n)    lets everything happen that can: n waits have ended in all
//   in_order     whether those that are told at once go on in order
//   many         how many waits are many
// and the log of who ended, in which order, with which error.

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/spawn.hpp>
#include <weir/task.hpp>

#include <support/foreign.hpp>
#include <support/manual_executor.hpp>

namespace weir::test {

struct ending {
  int id;
  std::error_code error;
};

class ending_log {
 public:
  void add(int id, std::error_code error) {
    std::lock_guard lock(mutex_);
    endings_.push_back({id, error});
  }
  [[nodiscard]] std::vector<ending> all() {
    std::lock_guard lock(mutex_);
    return endings_;
  }
  [[nodiscard]] std::size_t size() {
    std::lock_guard lock(mutex_);
    return endings_.size();
  }

 private:
  std::mutex mutex_;
  std::vector<ending> endings_;
};

class way {
 public:
  static constexpr bool in_order = true;
  static constexpr int many = 1'000;

  [[nodiscard]] std::size_t ended() { return log_.size(); }

  [[nodiscard]] std::vector<int> order() {
    std::vector<int> ids;
    for (const auto& each : log_.all()) ids.push_back(each.id);
    return ids;
  }

  /// Of the one that has ended with this id, exactly once.
  [[nodiscard]] std::error_code error_of(int id) {
    std::vector<std::error_code> found;
    for (const auto& each : log_.all()) {
      if (each.id == id) found.push_back(each.error);
    }
    EXPECT_EQ(found.size(), 1u) << "wait " << id << " has ended " << found.size() << " times";
    return found.empty() ? std::error_code() : found.front();
  }

 protected:
  /// What is called with the outcome of a wait.
  template <class AndThen>
  auto end_of(int id, AndThen and_then) {
    return [this, id, and_then](auto outcome) {
      and_then(outcome);
      log_.add(id, outcome.error());
    };
  }

  template <class Coroutine, class Make, class End>
  static Coroutine wait_for(Make make, End end) {
    auto outcome = co_await make();
    end(std::move(outcome));
  }

  ending_log log_;
};

/// A coroutine of a type that weir does not know: it goes on in the flat loop.
class coroutine_way : public way {
 public:
  template <class Object, class Make, class AndThen>
  void start(Object&, int id, Make make, AndThen and_then) {
    waits_.push_back(wait_for<foreign>(make, end_of(id, and_then)));
  }
  void expect(std::size_t ended) { EXPECT_EQ(log_.size(), ended); }

 private:
  std::vector<foreign> waits_;
};

/// A task on an executor.
class task_way : public way {
 public:
  ~task_way() { executor_.run_all(); }

  template <class Object, class Make, class AndThen>
  void start(Object&, int id, Make make, AndThen and_then) {
    spawned_.push_back(spawn(executor_, wait_for<task<>>(make, end_of(id, and_then))));
    executor_.run_all();
  }
  void expect(std::size_t ended) {
    executor_.run_all();
    EXPECT_EQ(log_.size(), ended);
  }

 private:
  class without_timers {  // the test's clock is the one of use_timers
   public:
    void post(work& item) noexcept { inner_.post(item); }
    bool retract(work& item) noexcept { return inner_.retract(item); }
    void run_all() noexcept { inner_.run_all(); }

   private:
    manual_executor inner_;
  };

  without_timers executor_;
  std::vector<future<>> spawned_;
};

class callback_way : public way {
 public:
  template <class Object, class Make, class AndThen>
  void start(Object&, int id, Make make, AndThen and_then) {
    tickets_.push_back(make().start(end_of(id, and_then)));
  }
  void expect(std::size_t ended) { EXPECT_EQ(log_.size(), ended); }

 private:
  std::vector<ticket> tickets_;
};

/// A callback that is posted to an executor.
class posted_callback_way : public way {
 public:
  template <class Object, class Make, class AndThen>
  void start(Object&, int id, Make make, AndThen and_then) {
    tickets_.push_back(make().resume_on(executor_).start(end_of(id, and_then)));
    executor_.run_all();
  }
  void expect(std::size_t ended) {
    executor_.run_all();
    EXPECT_EQ(log_.size(), ended);
  }

 private:
  class without_timers {
   public:
    void post(work& item) noexcept { inner_.post(item); }
    void run_all() noexcept { inner_.run_all(); }

   private:
    manual_executor inner_;
  };

  without_timers executor_;
  std::vector<ticket> tickets_;
};

/// Blocked threads. They wake in any order: a test that asks for the order lets them through one by one.
class thread_way : public way {
 public:
  static constexpr bool in_order = false;
  static constexpr int many = 100;

  template <class Object, class Make, class AndThen>
  void start(Object& object, int id, Make make, AndThen and_then) {
    const std::size_t queued = object.waiting();
    const std::size_t ended = log_.size();
    threads_.emplace_back([make, end = end_of(id, and_then)] { end(make().wait()); });
    while (object.waiting() == queued && log_.size() == ended) std::this_thread::yield();
  }
  void expect(std::size_t ended) {
    while (log_.size() < ended) std::this_thread::yield();
    EXPECT_EQ(log_.size(), ended);
  }

 private:
  std::vector<std::jthread> threads_;
};

}  // namespace weir::test
