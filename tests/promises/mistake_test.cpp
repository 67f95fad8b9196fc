// Mistakes that a debug build reports: a death test each. A build with NDEBUG has none of these checks.

#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include <weir/weir.hpp>

#if !defined(NDEBUG)

namespace weir {
namespace {

class mistake_DeathTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(mistake_DeathTest, a_forgotten_co_await_asserts) {
  semaphore sem(1);
  EXPECT_DEATH((void)sem.acquire(), "is a co_await missing");
}

TEST_F(mistake_DeathTest, an_operation_that_is_waited_on_twice_asserts) {
  semaphore sem(2);
  auto operation = sem.acquire();
  std::move(operation).wait();
  EXPECT_DEATH(std::move(operation).wait(), "waited on once");
}

TEST_F(mistake_DeathTest, destroying_a_locked_mutex_asserts) {
  EXPECT_DEATH(
      {
        mutex m;
        (void)m.try_lock();
      },
      "destroyed while it was locked");
}

TEST_F(mistake_DeathTest, destroying_a_semaphore_with_a_permit_outstanding_asserts) {
  EXPECT_DEATH(
      {
        permit outlives;
        semaphore sem(1);
        outlives = sem.try_scoped_acquire();
      },
      "while a permit of it was held");
}

TEST_F(mistake_DeathTest, a_callback_that_throws_terminates) {
  semaphore sem(1);
  EXPECT_DEATH((void)sem.acquire().start([](result<>) { throw 1; }), "");
}

task<> waits_for(event& until) { co_await until.wait(); }

TEST_F(mistake_DeathTest, destroying_a_thread_pool_with_suspended_tasks_asserts_and_says_how_many) {
  EXPECT_DEATH(
      {
        event never;
        thread_pool threads(2);
        for (int i = 0; i < 3; ++i) std::ignore = spawn(threads, waits_for(never));
        std::ignore = spawn(threads, []() -> task<> { co_return; }());
      },
      "a thread_pool was destroyed while 3 tasks were suspended on it");
}

TEST_F(mistake_DeathTest, destroying_a_thread_pool_with_a_suspended_task_of_a_pool_asserts) {
  EXPECT_DEATH(
      {
        event never;
        thread_pool threads(1);
        pool jobs(threads, 2);
        std::ignore = jobs.submit(waits_for(never)).wait();
      },
      "a thread_pool was destroyed while 1 task was suspended on it");
}

TEST_F(mistake_DeathTest, destroying_a_run_loop_with_suspended_tasks_asserts_and_says_how_many) {
  EXPECT_DEATH(
      {
        event never;
        run_loop loop;
        for (int i = 0; i < 2; ++i) std::ignore = spawn(loop, waits_for(never));
        loop.finish();
        loop.run();
      },
      "a run_loop was destroyed while 2 tasks were suspended on it");
}

/// Tasks that begin and end inside and outside of their executor, which must find that none is left.
TEST(mistake, an_executor_whose_tasks_have_all_ended_is_destroyed_quietly) {
  for (int round = 0; round < 10; ++round) {
    event go;
    thread_pool other(1);
    thread_pool threads(2);
    const auto moves = [](event& until, thread_pool& away) -> task<> {
      co_await until.wait();
      co_await yield();
      co_await until.wait().resume_on(away);
    };
    const auto spawns = [](event& until, thread_pool& here, thread_pool& away, auto body) -> task<> {
      auto child = spawn(here, body(until, away));
      co_await child.get();
    };
    auto first = spawn(threads, moves(go, other));
    auto second = spawn(threads, spawns(go, threads, other, moves));
    go.set();
    first.get().wait();
    second.get().wait();
  }
}

task<> keeps_one_for_later(semaphore& sem, event& until) {
  auto later = sem.acquire();
  co_await until.wait();
  co_await std::move(later);
}

TEST(mistake, an_operation_that_the_frame_of_an_unfinished_task_keeps_for_later_is_none) {
  semaphore sem(1);
  event never;
  {
    const auto unstarted = keeps_one_for_later(sem, never);
  }
  core::context where({}, {}, {});
  struct : core::task_outcome {
  } end;
  auto suspended = keeps_one_for_later(sem, never);
  suspended.start(where, end);
  EXPECT_EQ(never.waiting(), 1u);
  suspended = {};
  EXPECT_EQ(never.waiting(), 0u);
}

TEST(mistake, an_operation_that_an_exception_prevents_is_no_mistake) {
  semaphore sem(1);
  const auto refuse = [](auto) { throw 1; };
  EXPECT_THROW(refuse(sem.acquire()), int);
}

}  // namespace
}  // namespace weir

#endif
