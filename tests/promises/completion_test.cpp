// Where and how completions run: G3 over all kinds in one queue, G6 under no lock, G7 never on the releaser's stack.

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/mutex.hpp>
#include <weir/semaphore.hpp>
#include <weir/task.hpp>

#include <support/foreign.hpp>
#include <support/manual_executor.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;

test::detached foreign_lock(mutex& m, std::atomic<int>& turn, int expected) {
  co_await m.lock();
  EXPECT_EQ(turn.fetch_add(1), expected);
  m.unlock();
}

task<> task_lock(mutex& m, std::atomic<int>& turn, int expected) {
  co_await m.lock();
  EXPECT_EQ(turn.fetch_add(1), expected);
  m.unlock();
}

TEST(completion, G3_coroutines_threads_callbacks_and_tasks_wait_in_one_fair_queue) {
  constexpr int rounds = 20;
  mutex m;
  std::atomic<int> turn{0};
  thread_pool pool(2);
  std::vector<std::jthread> threads;
  ASSERT_TRUE(m.try_lock());
  const auto queued = [&](int count) {
    while (m.waiting() != static_cast<std::size_t>(count)) std::this_thread::yield();
  };
  for (int round = 0; round < rounds; ++round) {
    const int at = round * 4;
    foreign_lock(m, turn, at);
    threads.emplace_back([&m, &turn, at] {
      m.lock().wait();
      EXPECT_EQ(turn.fetch_add(1), at + 1);
      m.unlock();
    });
    queued(at + 2);
    (void)m.lock().start([&m, &turn, at](result<>) {
      EXPECT_EQ(turn.fetch_add(1), at + 2);
      m.unlock();
    });
    (void)spawn(pool, task_lock(m, turn, at + 3));
    queued(at + 4);
  }
  m.unlock();
  threads.clear();
  m.lock().wait();
  m.unlock();
  EXPECT_EQ(turn.load(), rounds * 4);
}

TEST(completion, G6_a_completion_may_call_anything_on_its_object) {
  semaphore sem(0);
  int entered = 0;
  auto first = sem.acquire().start([&](result<>) {
    ++entered;
    sem.release();
    EXPECT_FALSE(sem.try_acquire()) << "the next one has it";
    EXPECT_EQ(sem.waiting(), 0u);
    (void)sem.acquire().start([&](result<> outcome) {
      ++entered;
      EXPECT_EQ(outcome.error(), errc::closed);
    });
    sem.close();
  });
  auto second = sem.acquire().start([&](result<> outcome) {
    ++entered;
    EXPECT_TRUE(outcome);
  });
  sem.release();
  EXPECT_EQ(entered, 3);
}

template <class Object, class Wait, class LetThrough>
void destroyed_by_its_waiter(std::unique_ptr<Object> object, Wait wait, LetThrough let_through) {
  int told = 0;
  auto& the_object = *object;
  auto first = wait(the_object).start([&](result<> outcome) {
    EXPECT_TRUE(outcome);
    object.reset();
    ++told;
  });
  auto second = wait(the_object).start([&](result<> outcome) {
    EXPECT_EQ(outcome.error(), errc::closed);
    ++told;
  });
  let_through(the_object);
  EXPECT_EQ(told, 2);
}

TEST(completion, G6_a_completion_may_destroy_its_object) {
  destroyed_by_its_waiter(
      std::make_unique<semaphore>(0), [](semaphore& s) { return s.acquire(); }, [](semaphore& s) { s.release(); });
  destroyed_by_its_waiter(
      std::make_unique<event>(), [](event& e) { return e.wait(); }, [](event& e) { e.notify_one(); });
}

TEST(completion, G6_a_time_out_or_a_stop_may_destroy_the_object) {
  manual_timers clock;
  use_timers by_hand(clock);
  auto sem = std::make_unique<semaphore>(0);
  bool told = false;
  auto waits = sem->acquire().within(1ms).start([&](result<>) {
    sem.reset();
    told = true;
  });
  clock.advance(2ms);
  EXPECT_TRUE(told);

  std::stop_source stop;
  auto ready = std::make_unique<event>();
  auto stopped = ready->wait().stop_on(stop.get_token()).start([&](result<>) { ready.reset(); });
  stop.request_stop();
  EXPECT_FALSE(ready);
}

TEST(completion, G7_a_waiter_with_an_executor_never_runs_on_the_releasers_stack) {
  test::manual_executor executor;
  semaphore sem(0);
  bool ran = false;
  auto waits = sem.acquire().resume_on(executor).start([&](result<>) { ran = true; });
  sem.release();
  EXPECT_FALSE(ran);
  EXPECT_FALSE(waits.done());
  EXPECT_FALSE(waits.cancel()) << "it has been granted";
  executor.run_all();
  EXPECT_TRUE(ran);
  EXPECT_TRUE(waits.done());
}

TEST(completion, G7_everyone_is_told_before_anyones_code_runs) {
  test::manual_executor executor;
  event ready;
  bool posted = false;
  auto first = ready.wait().start([&](result<>) { posted = !executor.empty(); });
  auto second = ready.wait().resume_on(executor).start([](result<>) {});
  ready.set();
  EXPECT_TRUE(posted) << "the callback ran before the one behind it was posted";
  executor.run_all();
}

TEST(completion, G7_a_callback_that_blocks_does_not_strand_those_behind_it) {
  event ready;
  event answered;
  bool behind = false;
  auto first = ready.wait().start([&](result<>) { answered.wait().wait(); });  // by the one behind it
  auto second = ready.wait().start([&](result<>) {
    behind = true;
    answered.set();
  });
  ready.set();
  EXPECT_TRUE(behind);
}

task<> set_and_wait(event& set, event& waited) {
  set.set();
  co_await waited.wait();
}

TEST(completion, G7_a_callback_that_runs_a_task_does_not_strand_what_the_task_completes) {
  event ready;
  event question;
  event answer;
  auto answers = question.wait().start([&](result<>) { answer.set(); });
  auto runs = ready.wait().start([&](result<>) { sync_wait(set_and_wait(question, answer)); });
  ready.set();
  EXPECT_TRUE(answer.is_set());
}

task<std::thread::id> where_am_i_after(semaphore& sem) {
  co_await sem.acquire();
  co_return std::this_thread::get_id();
}

TEST(completion, a_task_goes_on_on_its_executor_whoever_completes_it) {
  semaphore sem(0);
  run_loop loop;
  auto asks = spawn(loop, where_am_i_after(sem));
  std::jthread runs([&] { loop.run(); });
  while (sem.waiting() == 0) std::this_thread::yield();
  sem.release();
  EXPECT_EQ(asks.get().wait(), runs.get_id());
  loop.finish();
}

task<std::thread::id> moved_once(semaphore& sem, run_loop& there, std::thread::id& back) {
  co_await sem.acquire().resume_on(there);
  const auto moved = std::this_thread::get_id();
  (void)co_await sem.acquire().within(1h);
  back = std::this_thread::get_id();
  co_return moved;
}

TEST(completion, resume_on_moves_a_task_this_one_time) {
  semaphore sem(1);
  run_loop home;
  run_loop there;
  std::thread::id back;
  auto asks = spawn(home, moved_once(sem, there, back));
  std::jthread runs_home([&] { home.run(); });
  std::jthread runs_there([&] { there.run(); });
  while (sem.waiting() == 0) std::this_thread::yield();
  sem.release();
  EXPECT_EQ(asks.get().wait(), runs_there.get_id());
  EXPECT_EQ(back, runs_home.get_id());
  home.finish();
  there.finish();
}

TEST(ticket, knows_its_operation) {
  semaphore sem(0);
  ticket none;
  EXPECT_EQ(none.id(), 0u);
  EXPECT_FALSE(none.cancel());
  auto first = sem.acquire().start([](result<>) {});
  auto second = sem.acquire().start([](result<> outcome) { EXPECT_EQ(outcome.error(), errc::cancelled); });
  EXPECT_NE(first.id(), 0u);
  EXPECT_NE(first.id(), second.id());
  EXPECT_FALSE(second.done());
  EXPECT_TRUE(second.cancel());
  EXPECT_TRUE(second.done());
  EXPECT_FALSE(second.cancel());
  ticket moved = std::move(first);
  EXPECT_EQ(first.id(), 0u);
  sem.release();
  EXPECT_TRUE(moved.done());
}

TEST(ticket, dropping_it_withdraws_nothing) {
  semaphore sem(0);
  bool granted = false;
  {
    auto dropped = sem.acquire().start([&](result<> outcome) { granted = outcome.has_value(); });
  }
  EXPECT_EQ(sem.waiting(), 1u);
  sem.release();
  EXPECT_TRUE(granted);
}

TEST(ticket, outlives_the_object_it_waited_for) {
  std::optional<semaphore> sem(std::in_place, 0);
  auto waits = sem->acquire().start([](result<>) {});
  sem.reset();
  EXPECT_TRUE(waits.done());
  EXPECT_FALSE(waits.cancel());
}

TEST(callback, may_be_move_only_and_is_destroyed_after_its_call) {
  semaphore sem(0);
  auto counted = std::make_shared<int>(0);
  auto waits = sem.acquire().start([counted, owned = std::make_unique<int>(1)](result<>) { *counted += *owned; });
  EXPECT_EQ(counted.use_count(), 2);
  sem.release();
  EXPECT_EQ(*counted, 1);
  waits = ticket();
  EXPECT_EQ(counted.use_count(), 1);
}

}  // namespace
}  // namespace weir
