// Where code resumes (api.md §7): a task on its own executor after every wait, however the wait ends and wherever the
// task was before; anything else where resume_on names.

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/weir.hpp>

#include <support/foreign.hpp>
#include <support/manual_executor.hpp>
#include <unit/run/stage.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using test::does_nothing;
using test::foreign;
using test::manual_executor;
using test::moves_to;
using test::moves_to_a_thread;
using test::stage;
using test::stays;

// What is ready at once, however it ends.

task<> acquires() {
  semaphore sem(1);
  co_await sem.acquire();
}

task<> locks() {
  mutex m;
  const auto held = co_await m.scoped_lock();
}

task<> locks_again() {
  mutex m;
  const auto held = co_await m.scoped_lock();
  const auto again = co_await m.lock().as_result();
  EXPECT_EQ(again.error(), errc::would_deadlock);
}

task<> waits_for_a_set_event() {
  event set(true);
  co_await set.wait();
}

task<> finds_it_closed() {
  event shut(true);
  shut.close();
  const auto outcome = co_await shut.wait().as_result();
  EXPECT_EQ(outcome.error(), errc::closed);
}

task<> finds_it_stopped() {
  event set(true);
  std::stop_source stop;
  stop.request_stop();
  const auto outcome = co_await set.wait().stop_on(stop.get_token());
  EXPECT_EQ(outcome.error(), errc::cancelled);
}

task<> never_waits() {
  event never;
  const auto outcome = co_await never.wait().within(0s);
  EXPECT_EQ(outcome.error(), errc::timed_out);
}

task<> pushes_and_pops() {
  queue<int> items(1);
  co_await items.push(1);
  co_await items.pop();
}

task<> selects() {
  event never;
  event set(true);
  const auto first = co_await select(never.wait(), set.wait());
  EXPECT_EQ(first.index(), 1U);
}

task<> gets() {
  promise<int> made;
  auto given = made.get_future();
  made.set_value(1);
  co_await given.get();
}

task<> sleeps_for_nothing() { co_await sleep_for(0s); }

task<> yields() { co_await yield(); }

task<> arrives() {
  barrier alone(1);
  co_await alone.arrive_and_wait();
}

task<> waits_for_what_holds() {
  mutex m;
  condition changed;
  auto held = co_await m.scoped_lock();
  auto holds = [] { return true; };
  co_await changed.wait(held, holds);
}

task<> joins_a_pool_that_is_idle() {
  manual_executor unused;
  pool idle(unused, 1);
  co_await idle.join();
}

task<> awaits_two_that_acquire() { co_await when_all(acquires(), acquires()); }

task<> awaits_some_that_acquire() {
  std::vector<task<>> some;
  for (int i = 0; i < 3; ++i) some.push_back(acquires());
  co_await when_all(std::move(some));
}

struct named_wait {
  std::string_view name;
  task<> (*wait)();
};

constexpr named_wait ready_waits[] = {
    {"acquire", acquires},
    {"lock", locks},
    {"lock again", locks_again},
    {"event", waits_for_a_set_event},
    {"closed", finds_it_closed},
    {"stopped", finds_it_stopped},
    {"within zero", never_waits},
    {"queue", pushes_and_pops},
    {"select", selects},
    {"future", gets},
    {"sleep", sleeps_for_nothing},
    {"yield", yields},
    {"barrier", arrives},
    {"condition", waits_for_what_holds},
    {"join", joins_a_pool_that_is_idle},
    {"when_all", awaits_two_that_acquire},
    {"when_all of a vector", awaits_some_that_acquire},
};

task<> waits_after_a_foreign_awaitable(stage& places, task<> wait) {
  co_await moves_to(places.other);
  places.note();
  co_await std::move(wait);
  places.note();
}

TEST(places, after_a_foreign_awaitable_any_wait_brings_a_task_home_also_if_there_is_nothing_to_wait_for) {
  for (const auto& each : ready_waits) {
    SCOPED_TRACE(each.name);
    stage places;
    const auto made = spawn(places.home, waits_after_a_foreign_awaitable(places, each.wait()));
    places.run();
    EXPECT_TRUE(made.ready());
    EXPECT_EQ(places.seen, "other home ");
  }
}

task<> waits_after_resume_on(stage& places, task<> wait) {
  event set(true);
  co_await set.wait().resume_on(places.other);
  places.note();
  co_await std::move(wait);
  places.note();
}

TEST(places, after_resume_on_any_wait_brings_a_task_home_also_if_there_is_nothing_to_wait_for) {
  for (const auto& each : ready_waits) {
    SCOPED_TRACE(each.name);
    stage places;
    const auto made = spawn(places.home, waits_after_resume_on(places, each.wait()));
    places.run();
    EXPECT_TRUE(made.ready());
    EXPECT_EQ(places.seen, "other home ");
  }
}

task<> comes_home_and_waits_again(stage& places, task<> wait) {
  co_await moves_to(places.other);
  co_await std::move(wait);
  event set(true);
  for (int i = 0; i < 3; ++i) co_await set.wait();
  places.note();
}

TEST(places, a_task_that_is_home_again_is_not_suspended_by_waits_that_are_ready) {
  for (const auto& each : ready_waits) {
    SCOPED_TRACE(each.name);
    stage places;
    std::ignore = spawn(places.home, waits_after_a_foreign_awaitable(places, each.wait()));
    const auto until_home = places.run();
    std::ignore = spawn(places.home, comes_home_and_waits_again(places, each.wait()));
    EXPECT_EQ(places.run(), until_home);
    EXPECT_EQ(places.seen, "other home home ");
  }
}

// What is queued, however it ends.

/// How a test ends a wait.
struct ending {
  std::string_view name;
  std::error_code expected;
  std::function<void(stage&, semaphore&, std::stop_source&)> end;
};

const std::vector<ending>& endings() {
  static const std::vector<ending> all = {
      {"grant", {}, [](stage&, semaphore& sem, std::stop_source&) { sem.release(); }},
      {"time limit", errc::timed_out,
       [](stage& places, semaphore&, std::stop_source&) { places.home.timers().advance(2ms); }},
      {"stop", errc::cancelled, [](stage&, semaphore&, std::stop_source& stop) { stop.request_stop(); }},
      {"cancel_all", errc::cancelled, [](stage&, semaphore& sem, std::stop_source&) { sem.cancel_all(); }},
      {"close", errc::closed, [](stage&, semaphore& sem, std::stop_source&) { sem.close(); }},
  };
  return all;
}

task<std::error_code> queues(stage& places, semaphore& sem, std::stop_token stop, bool leaves_first) {
  if (leaves_first) co_await moves_to(places.other);
  const auto outcome = co_await sem.acquire().within(1ms).stop_on(stop);
  places.note();
  co_return outcome.error();
}

TEST(places, however_a_queued_wait_ends_its_task_resumes_at_home_wherever_it_was_started) {
  for (const auto& each : endings()) {
    for (const bool leaves_first : {false, true}) {
      SCOPED_TRACE(each.name);
      stage places;
      semaphore sem(0);
      std::stop_source stop;
      auto made = spawn(places.home, queues(places, sem, stop.get_token(), leaves_first));
      places.run();
      EXPECT_EQ(sem.waiting(), 1U);
      each.end(places, sem, stop);
      EXPECT_EQ(places.seen, "") << "resumed by the thread that ended the wait";
      places.run();
      EXPECT_EQ(places.seen, "home ");
      EXPECT_EQ(made.get().wait(), each.expected);
    }
  }
}

task<std::error_code> queues_for_another_place(stage& places, semaphore& sem, std::stop_token stop) {
  const auto outcome = co_await sem.acquire().within(1ms).stop_on(stop).resume_on(places.other);
  places.note();
  event set(true);
  co_await set.wait();
  places.note();
  co_return outcome.error();
}

TEST(places, however_a_queued_wait_ends_resume_on_says_where_and_the_next_wait_brings_the_task_home) {
  for (const auto& each : endings()) {
    SCOPED_TRACE(each.name);
    stage places;
    semaphore sem(0);
    std::stop_source stop;
    auto made = spawn(places.home, queues_for_another_place(places, sem, stop.get_token()));
    places.run();
    each.end(places, sem, stop);
    places.run();
    EXPECT_EQ(places.seen, "other home ");
    EXPECT_EQ(made.get().wait(), each.expected);
  }
}

foreign resumes_on_another_place(stage& places, semaphore& sem) {
  const auto outcome = co_await sem.acquire().as_result().resume_on(places.other);
  places.note();
}

TEST(places, a_foreign_coroutine_and_a_callback_resume_where_resume_on_says) {
  for (const std::size_t permits : {0U, 2U}) {
    for (const bool closes : {false, true}) {
      stage places;
      semaphore sem(permits);
      if (closes && permits != 0) sem.close();
      const auto waits = resumes_on_another_place(places, sem);
      std::ignore = sem.acquire().resume_on(places.other).start([&](const result<>&) { places.note(); });
      if (permits == 0 && closes) sem.close();
      if (permits == 0 && !closes) sem.release(2);
      EXPECT_EQ(places.seen, "") << "not inside the call that started or ended it";
      places.run();
      EXPECT_EQ(places.seen, "other other ");
    }
  }
}

TEST(places, G2_a_coroutine_that_is_destroyed_between_its_grant_and_its_resumption_gives_back_and_never_runs) {
  for (const std::size_t permits : {0U, 1U}) {
    stage places;
    semaphore sem(permits);
    auto waits = resumes_on_another_place(places, sem);
    if (permits == 0) sem.release();
    EXPECT_EQ(sem.available(), 0U);
    EXPECT_FALSE(places.other.empty());
    waits.destroy();
    EXPECT_EQ(sem.available(), 1U);
    EXPECT_EQ(places.run(), 0U);
    EXPECT_EQ(places.seen, "");
  }
}

TEST(places, G2_one_that_resumes_may_destroy_another_that_is_ready_behind_it) {
  stage places;
  semaphore sem(0);
  std::optional<foreign> second;
  const auto destroys = [](stage& where, semaphore& wanted, std::optional<foreign>& behind) -> foreign {
    co_await wanted.acquire().resume_on(where.other);
    where.note();
    behind.reset();
  };
  const auto first = destroys(places, sem, second);
  second = resumes_on_another_place(places, sem);
  sem.release(2);
  places.run();
  EXPECT_EQ(places.seen, "other ");
  EXPECT_EQ(sem.available(), 1U);
}

task<> waits_for_notification(stage& places, mutex& m, condition& changed, const bool& ready) {
  co_await moves_to(places.other);
  auto held = co_await m.scoped_lock();
  auto asks = [&] {
    places.note();
    return ready;
  };
  co_await changed.wait(held, asks);
  places.note();
}

TEST(places, a_predicate_is_asked_at_home_and_there_its_task_resumes) {
  stage places;
  mutex m;
  condition changed;
  bool ready = false;
  const auto made = spawn(places.home, waits_for_notification(places, m, changed, ready));
  places.run();
  changed.notify_one();
  places.run();
  ready = true;
  changed.notify_all();
  places.run();
  EXPECT_TRUE(made.ready());
  EXPECT_EQ(places.seen, "home home home home ");
}

TEST(places, a_task_that_has_to_lock_again_after_its_notification_resumes_at_home) {
  stage places;
  mutex m;
  condition changed;
  const auto waits = [](stage& where, mutex& guards, condition& awaited) -> task<> {
    auto held = co_await guards.scoped_lock();
    co_await awaited.wait(held);
    where.note();
  };
  const auto made = spawn(places.home, waits(places, m, changed));
  places.run();
  EXPECT_TRUE(m.try_lock());
  changed.notify_one();
  places.run();
  EXPECT_EQ(places.seen, "");
  m.unlock();
  places.run();
  EXPECT_EQ(places.seen, "home ");
  EXPECT_TRUE(made.ready());
}

// Others that run tasks.

task<> notes_twice(stage& places, std::string& seen) {
  places.note(seen);
  co_await moves_to(places.home);
  event set(true);
  co_await set.wait();
  places.note(seen);
}

task<> submits(stage& places, std::string& seen_by_jobs) {
  pool jobs(places.other, 1);
  auto first = co_await jobs.submit(notes_twice(places, seen_by_jobs));
  auto second = co_await jobs.submit(notes_twice(places, seen_by_jobs));
  places.note();
  co_await first.get();
  places.note();
  co_await jobs.join();
  places.note();
}

TEST(places, the_tasks_of_a_pool_keep_to_its_executor_and_those_that_use_it_to_their_own) {
  stage places;
  std::string seen_by_jobs;
  const auto made = spawn(places.home, submits(places, seen_by_jobs));
  places.run();
  EXPECT_TRUE(made.ready());
  EXPECT_EQ(seen_by_jobs, "other other other other ");
  EXPECT_EQ(places.seen, "home home home ");
}

task<> iterates(stage& places, const std::vector<int>& items) {
  const auto notes = [&places](int) -> task<> {
    event set(true);
    places.note();
    co_await set.wait();
    places.note();
  };
  co_await for_each(places.other, items, 1, notes);
  places.note();
  const auto doubles = [&places](int item) -> task<int> {
    places.note();
    co_return 2 * item;
  };
  const auto results = co_await map(places.other, items, 2, doubles);
  places.note();
  EXPECT_EQ(results.back(), 2 * items.back());
}

TEST(places, the_bodies_of_for_each_and_map_run_on_the_executor_that_is_named_and_their_caller_on_its_own) {
  stage places;
  const std::vector items = {1, 2};
  const auto made = spawn(places.home, iterates(places, items));
  places.run();
  EXPECT_TRUE(made.ready());
  EXPECT_EQ(places.seen, "other other other other home other other home ");
}

TEST(places, a_task_gets_the_future_of_one_on_another_executor_at_home) {
  stage places;
  event opened(true);
  const auto gets = [](stage& where, event& ready) -> task<> {
    auto there = spawn(where.other, stays(where, ready));
    co_await there.get();
    where.note();
    co_await sleep_for(1ms);
    where.note();
  };
  const auto made = spawn(places.home, gets(places, opened));
  places.run();
  EXPECT_EQ(places.seen, "other home ");
  places.home.timers().advance(2ms);
  places.run();
  EXPECT_TRUE(made.ready());
  EXPECT_EQ(places.seen, "other home home ");
}

// Real threads.

task<bool> comes_back_to_its_thread(semaphore& sem, thread_pool& elsewhere) {
  const auto home = std::this_thread::get_id();
  co_await moves_to_a_thread();
  bool left = std::this_thread::get_id() != home;
  co_await sem.acquire();
  bool returned = std::this_thread::get_id() == home;
  co_await sem.acquire().resume_on(elsewhere);
  left = left && std::this_thread::get_id() != home;
  co_await yield();
  returned = returned && std::this_thread::get_id() == home;
  co_await moves_to_a_thread();
  co_await sleep_for(1us);
  returned = returned && std::this_thread::get_id() == home;
  auto there = spawn(elsewhere, does_nothing());
  co_await there.get();
  co_return left&& returned&& std::this_thread::get_id() == home;
}

TEST(places, a_task_of_sync_wait_comes_back_to_the_calling_thread) {
  semaphore sem(2);
  thread_pool elsewhere(1);
  EXPECT_TRUE(sync_wait(comes_back_to_its_thread(sem, elsewhere)));
}

TEST(places, a_task_of_a_thread_pool_comes_back_to_its_thread) {
  semaphore sem(2);
  thread_pool elsewhere(1);
  thread_pool threads(1);
  EXPECT_TRUE(spawn(threads, comes_back_to_its_thread(sem, elsewhere)).get().wait());
}

}  // namespace
}  // namespace weir
