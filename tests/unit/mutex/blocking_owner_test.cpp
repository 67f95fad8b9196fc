// A blocking wait in a function that a task calls: its owner is the task, as that of a co_await would be.

#include <chrono>
#include <coroutine>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include <weir/weir.hpp>

namespace weir {
namespace {

/// What a helper function does that knows nothing of tasks.
std::error_code lock_blocking(mutex& m) { return m.lock().as_result().wait().error(); }

task<std::error_code> locks_twice(mutex& m) {
  const auto held = co_await m.scoped_lock();
  co_return lock_blocking(m);
}

task<std::error_code> locks_twice_with_pauses(mutex& m, event& go) {
  const auto held = co_await m.scoped_lock();
  co_await yield();
  co_await go.wait();
  co_return lock_blocking(m);
}

TEST(blocking_owner, of_a_task_on_a_thread_pool_is_the_task) {
  thread_pool threads(1);
  mutex m;
  auto locked = spawn(threads, locks_twice(m));
  EXPECT_EQ(locked.get().wait(), errc::would_deadlock);
  EXPECT_FALSE(m.locked());
}

TEST(blocking_owner, of_a_task_that_was_resumed_is_the_task) {
  thread_pool threads(1);
  mutex m;
  event go;
  auto locked = spawn(threads, locks_twice_with_pauses(m, go));
  while (go.waiting() == 0) std::this_thread::yield();
  go.set();
  EXPECT_EQ(locked.get().wait(), errc::would_deadlock);
}

TEST(blocking_owner, of_a_task_that_another_executor_resumes_is_the_task) {
  thread_pool threads(1);
  thread_pool others(1);
  mutex m;
  const auto moves = [](mutex& locks, thread_pool& elsewhere) -> task<std::error_code> {
    const auto held = co_await locks.scoped_lock().resume_on(elsewhere);
    co_return lock_blocking(locks);
  };
  auto locked = spawn(threads, moves(m, others));
  EXPECT_EQ(locked.get().wait(), errc::would_deadlock);
}

TEST(blocking_owner, of_a_task_under_sync_wait_is_its_thread) {
  mutex m;
  EXPECT_EQ(sync_wait(locks_twice(m)), errc::would_deadlock);
  EXPECT_EQ(lock_blocking(m), std::error_code());
  m.unlock();
}

TEST(blocking_owner, of_a_sync_wait_inside_a_task_is_the_task) {
  thread_pool threads(1);
  mutex m;
  recursive_mutex r;
  const auto nests = [](mutex& locks, recursive_mutex& twice) -> task<std::error_code> {
    const auto held = co_await locks.scoped_lock();
    const auto level = co_await twice.scoped_lock();
    const auto inner = [](mutex& again, recursive_mutex& same) -> task<std::error_code> {
      const auto second = co_await same.scoped_lock();
      co_return (co_await again.lock().as_result()).error();
    };
    co_return sync_wait(inner(locks, twice));
  };
  auto locked = spawn(threads, nests(m, r));
  EXPECT_EQ(locked.get().wait(), errc::would_deadlock);
  EXPECT_FALSE(r.locked());
}

TEST(blocking_owner, of_a_recursive_mutex_is_the_task_too) {
  thread_pool threads(1);
  recursive_mutex r;
  const auto nests = [](recursive_mutex& twice) -> task<> {
    const auto held = co_await twice.scoped_lock();
    twice.lock().wait();
    twice.unlock();
  };
  spawn(threads, nests(r)).get().wait();
  EXPECT_FALSE(r.locked());
}

TEST(blocking_owner, of_a_child_of_when_all_is_the_child_and_then_again_the_parent) {
  thread_pool threads(1);
  mutex of_parent;
  mutex of_child;
  event go;
  const auto child = [](mutex& parents, mutex& own, event& until) -> task<std::error_code> {
    const auto held = co_await own.scoped_lock();
    co_await until.wait();
    EXPECT_EQ(parents.lock().within(std::chrono::seconds(0)).wait().error(), errc::timed_out)
        << "a child is no owner of it";
    co_return lock_blocking(own);
  };
  const auto parent = [](mutex& own, mutex& childs, event& until, auto body) -> task<std::error_code> {
    const auto held = co_await own.scoped_lock();
    auto all = when_all(body(own, childs, until));
    const auto [of_it] = co_await std::move(all);
    EXPECT_EQ(of_it, errc::would_deadlock);
    co_return lock_blocking(own);
  };
  auto locked = spawn(threads, parent(of_parent, of_child, go, child));
  while (go.waiting() == 0) std::this_thread::yield();
  go.set();
  EXPECT_EQ(locked.get().wait(), errc::would_deadlock);
}

TEST(blocking_owner, of_a_thread_after_its_task_is_the_thread_again) {
  mutex m;
  run_loop loop;
  auto locked = spawn(loop, locks_twice(m));
  loop.finish();
  loop.run();
  EXPECT_EQ(locked.get().wait(), errc::would_deadlock);
  EXPECT_EQ(lock_blocking(m), std::error_code());
  EXPECT_EQ(lock_blocking(m), errc::would_deadlock);
  m.unlock();
}

TEST(blocking_owner, of_a_callback_that_a_task_lets_through_is_the_thread) {
  thread_pool threads(1);
  mutex m;
  semaphore sem(0);
  event held_by_callback;
  std::optional<mutex::guard> by_callback;
  auto callback = sem.acquire().start([&](const result<>&) {
    by_callback.emplace(m.scoped_lock().wait());
    held_by_callback.set();
  });
  const auto releases = [](semaphore& lets, mutex& locks) -> task<std::error_code> {
    lets.release();
    co_return (co_await locks.lock().as_result()).error();
  };
  auto locked = spawn(threads, releases(sem, m));
  held_by_callback.wait().wait();
  while (m.waiting() == 0 && !locked.ready()) std::this_thread::yield();
  by_callback->unlock();
  EXPECT_EQ(locked.get().wait(), std::error_code()) << "the task has locked nothing";
  m.unlock();
}

/// Resumes its awaiter on the thread that calls resume().
struct foreign_awaitable {
  std::coroutine_handle<> waits;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> awaiter) noexcept { waits = awaiter; }
  void await_resume() const noexcept {}
};

TEST(blocking_owner, of_a_thread_that_has_resumed_the_last_child_of_a_when_all_is_the_thread_again) {
  run_loop loop;
  mutex m;
  foreign_awaitable resumes;
  const auto child = [](foreign_awaitable& until) -> task<> { co_await until; };
  const auto parent = [](mutex& locks, foreign_awaitable& until, auto body) -> task<> {
    const auto held = co_await locks.scoped_lock();
    auto all = when_all(body(until));
    co_await std::move(all);
    co_await yield();
  };
  auto ended = spawn(loop, parent(m, resumes, child));
  loop.finish();
  loop.run();
  resumes.waits.resume();  // by code that knows nothing of tasks
  EXPECT_EQ(m.lock().within(std::chrono::seconds(0)).wait().error(), errc::timed_out) << "this thread holds nothing";
  loop.run();
  ended.get().wait();
}

}  // namespace
}  // namespace weir
