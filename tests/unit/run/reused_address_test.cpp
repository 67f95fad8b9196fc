// What a thread remembers of an object must not be taken for another one at the same address, nor one owner for the
// next.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/mutex.hpp>
#include <weir/recursive_mutex.hpp>
#include <weir/semaphore.hpp>
#include <weir/task.hpp>

#include <support/job.hpp>
#include <support/manual_executor.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using test::job;

/// The next loop is at the address of one that this thread has run.
void run_and_replace(std::optional<run_loop>& loop) {
  loop->finish();
  loop->run();
  loop.reset();
  loop.emplace();
}

TEST(reused_address, G7_of_a_run_loop_that_this_thread_has_run_takes_posts_from_outside) {
  std::optional<run_loop> loop(std::in_place);
  const void* const before = &*loop;
  run_and_replace(loop);
  ASSERT_EQ(&*loop, before);
  std::atomic<bool> ran{false};
  event done;
  job first([&] { done.set(); });
  job last([&] { ran = true; });
  std::jthread elsewhere([&] { loop->run(); });
  loop->post(first);
  done.wait().wait();  // it runs, and then sleeps
  loop->post(last);
  loop->finish();
  elsewhere.join();
  EXPECT_TRUE(ran);
}

TEST(reused_address, of_a_run_loop_that_this_thread_has_run_keeps_the_order_of_all_posts) {
  std::vector<char> order;
  job from_there([&] { order.push_back('b'); });
  job from_here([&] { order.push_back('a'); });
  std::optional<run_loop> loop(std::in_place);
  run_and_replace(loop);
  std::jthread([&] { loop->post(from_there); }).join();
  loop->post(from_here);  // not from inside, though this thread was inside of one at this address
  loop->finish();
  loop->run();
  EXPECT_EQ(order, (std::vector{'b', 'a'}));
}

TEST(reused_address, of_a_run_loop_that_ran_inside_another_keeps_the_order_of_all_posts) {
  std::vector<char> order;
  job from_there([&] { order.push_back('b'); });
  job from_here([&] { order.push_back('a'); });
  run_loop outer;
  job nests([&] {
    std::optional<run_loop> inner(std::in_place);
    run_and_replace(inner);
    std::jthread([&] { inner->post(from_there); }).join();
    inner->post(from_here);
    inner->finish();
    inner->run();
  });
  outer.post(nests);
  outer.finish();
  outer.run();
  EXPECT_EQ(order, (std::vector{'b', 'a'}));
}

TEST(reused_address, of_a_run_loop_inside_another_loop_is_still_not_the_outer_one) {
  run_loop outer;
  std::vector<int> order;
  job posted_to_outer([&] { order.push_back(3); });
  job in_second([&] { order.push_back(2); });
  job nests([&] {
    std::optional<run_loop> inner(std::in_place);
    run_and_replace(inner);
    inner->post(in_second);
    outer.post(posted_to_outer);
    order.push_back(1);
    inner->finish();
    inner->run();
  });
  outer.post(nests);
  outer.finish();
  outer.run();
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

TEST(reused_address, of_run_loops_three_deep_each_runs_its_own) {
  run_loop loops[3];
  std::vector<int> order;
  job third([&] {
    order.push_back(2);
    loops[2].finish();
  });
  job after_third([&] {
    order.push_back(4);
    loops[1].finish();
  });
  job second([&] {
    order.push_back(1);
    loops[2].post(third);
    loops[2].run();
    order.push_back(3);
    loops[1].post(after_third);
  });
  job after_second([&] {
    order.push_back(6);
    loops[0].finish();
  });
  job first([&] {
    order.push_back(0);
    loops[1].post(second);
    loops[1].run();
    order.push_back(5);
    loops[0].post(after_second);
  });
  loops[0].post(first);
  loops[0].run();
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4, 5, 6}));
}

TEST(reused_address, of_a_run_loop_whose_run_is_entered_again_by_its_own_work_goes_on) {
  run_loop loop;
  std::vector<int> order;
  job inner([&] { order.push_back(2); });
  job last([&] { order.push_back(4); });
  job nests([&] {
    order.push_back(1);
    loop.post(inner);
    loop.finish();
    loop.run();
    order.push_back(3);
    loop.post(last);
  });
  loop.post(nests);
  loop.run();
  EXPECT_EQ(order, (std::vector{1, 2, 3, 4}));
}

task<int> waits_for(event& ready, int value) {
  co_await ready.wait();
  co_return value;
}

TEST(reused_address, of_the_loop_of_a_sync_wait_does_not_disturb_the_next) {
  std::vector<int> made;
  for (int i = 0; i < 20; ++i) {
    event ready;
    event begun;
    std::jthread sets([&] {
      begun.wait().wait();
      ready.set();
    });
    auto both = [](event& first, event& second, int value) -> task<int> {
      first.set();
      co_return co_await waits_for(second, value);
    };
    made.push_back(sync_wait(both(begun, ready, i)));
  }
  for (int i = 0; i < 20; ++i) EXPECT_EQ(made[static_cast<std::size_t>(i)], i);
}

TEST(reused_address, of_a_thread_pool_runs_what_is_posted_there_and_nowhere_else) {
  std::optional<thread_pool> threads;
  const void* before = nullptr;
  for (int i = 0; i < 10; ++i) {
    threads.emplace(2);
    EXPECT_TRUE(i == 0 || before == &*threads);
    before = &*threads;
    std::thread::id ran;
    event done;
    job inner([&] {
      ran = std::this_thread::get_id();
      done.set();
    });
    job outer([&] { threads->post(inner); });
    threads->post(outer);
    done.wait().wait();
    EXPECT_NE(ran, std::this_thread::get_id());
    threads.reset();
  }
}

TEST(reused_address, of_a_thread_pool_made_by_the_worker_of_another_takes_posts_of_both) {
  thread_pool outer(1);
  event done;
  int ran = 0;
  job makes([&] {
    for (int i = 0; i < 5; ++i) {
      std::optional<thread_pool> inner(std::in_place, 1);
      job counts([&] { ++ran; });
      job posts([&] { inner->post(counts); });
      inner->post(posts);
      inner.reset();  // runs all of it, then joins
      EXPECT_EQ(ran, i + 1);
    }
    done.set();
  });
  outer.post(makes);
  done.wait().wait();
  EXPECT_EQ(ran, 5);
}

TEST(reused_address, of_a_mutex_that_this_thread_has_owned_has_no_owner) {
  std::optional<mutex> m(std::in_place);
  m->lock().wait();
  m->unlock();
  m.reset();
  m.emplace();
  ASSERT_TRUE(m->try_lock());
  EXPECT_EQ(m->lock().within(0s).wait().error(), errc::timed_out) << "would_deadlock is for who owns it";
  m->unlock();
  m->lock().wait();
  EXPECT_EQ(m->lock().as_result().wait().error(), errc::would_deadlock);
  m->unlock();
}

TEST(reused_address, of_a_recursive_mutex_that_this_thread_has_owned_is_not_entered_again) {
  std::optional<recursive_mutex> m(std::in_place);
  m->lock().wait();
  m->unlock();
  m.reset();
  m.emplace();
  ASSERT_TRUE(m->try_lock());
  EXPECT_FALSE(m->lock().within(0s).wait());
  m->unlock();
}

TEST(reused_address, of_a_semaphore_leaves_no_debt_and_nobody_in_line) {
  std::optional<semaphore> sem(std::in_place, 0u, 2u);
  sem->reduce(2);
  std::optional<std::error_code> error;
  auto waits = sem->acquire().start([&](const result<>& outcome) { error = outcome.error(); });
  sem.reset();
  EXPECT_EQ(error, errc::closed);
  sem.emplace(0u, 2u);
  EXPECT_EQ(sem->waiting(), 0u);
  EXPECT_FALSE(sem->closed());
  sem->release();
  EXPECT_EQ(sem->available(), 1u);
}

task<std::error_code> locks_and_leaves(mutex& m) { co_return (co_await m.lock().within(0s)).error(); }

TEST(reused_owner, of_a_task_that_has_ended_is_not_the_next_ones) {
  test::manual_executor executor;
  mutex m;
  auto first = spawn(executor, locks_and_leaves(m));
  executor.run_all();
  EXPECT_EQ(first.get().wait(), std::error_code());
  first = {};
  for (int i = 0; i < 10; ++i) {  // in the memory of the first, or of one another
    auto next = spawn(executor, locks_and_leaves(m));
    executor.run_all();
    EXPECT_EQ(next.get().wait(), errc::timed_out) << "taken for the owner";
  }
  EXPECT_TRUE(m.locked());
  m.unlock();
}

TEST(reused_owner, of_a_task_that_has_ended_does_not_enter_a_recursive_mutex) {
  test::manual_executor executor;
  recursive_mutex m;
  auto locks = [](recursive_mutex& wanted) -> task<bool> { co_return (co_await wanted.lock().within(0s)).has_value(); };
  auto first = spawn(executor, locks(m));
  executor.run_all();
  EXPECT_TRUE(first.get().wait());
  first = {};
  for (int i = 0; i < 10; ++i) {
    auto next = spawn(executor, locks(m));
    executor.run_all();
    EXPECT_FALSE(next.get().wait());
  }
  m.unlock();
  EXPECT_FALSE(m.locked());
}

TEST(reused_owner, of_a_thread_that_has_ended_is_not_the_next_ones) {
  mutex m;
  recursive_mutex r;
  std::jthread([&] {
    m.lock().wait();
    r.lock().wait();
  }).join();
  for (int i = 0; i < 5; ++i) {
    std::jthread([&] {
      EXPECT_EQ(m.lock().within(0s).wait().error(), errc::timed_out);
      EXPECT_FALSE(r.lock().within(0s).wait());
    }).join();
  }
  m.unlock();
  r.unlock();
}

}  // namespace
}  // namespace weir
