// Destroying a suspended coroutine withdraws its wait; a grant that has not reached it is given back.

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
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
using test::foreign;

template <class Make>
foreign wait_for(Make make, bool& reached) {
  {
    [[maybe_unused]] auto outcome = co_await make();
  }
  reached = true;
}

task<> only_waits(semaphore& sem) { co_await sem.acquire(); }

TEST(abandon, G1_a_coroutine_destroyed_while_it_waits_is_queued_no_more) {
  semaphore sem(0);
  bool reached = false;
  auto waits = wait_for([&] { return sem.acquire().as_result(); }, reached);
  EXPECT_EQ(sem.waiting(), 1u);
  waits.destroy();
  EXPECT_EQ(sem.waiting(), 0u);
  sem.release();
  EXPECT_EQ(sem.available(), 1u);
  EXPECT_FALSE(reached);
}

TEST(abandon, G5_destroying_a_large_head_lets_those_behind_it_through) {
  semaphore sem(1);
  bool reached = false;
  bool granted = false;
  auto waits = wait_for([&] { return sem.acquire(2).as_result(); }, reached);
  auto behind = sem.acquire().start([&](result<> outcome) { granted = outcome.has_value(); });
  waits.destroy();
  EXPECT_TRUE(granted);
}

TEST(abandon, G1_limits_go_with_the_coroutine) {
  manual_timers clock;
  use_timers by_hand(clock);
  std::stop_source stop;
  semaphore sem(0);
  bool reached = false;
  auto waits = wait_for([&] { return sem.acquire().within(1s).stop_on(stop.get_token()); }, reached);
  waits.destroy();
  clock.advance(2s);
  stop.request_stop();
  EXPECT_FALSE(reached);
  EXPECT_EQ(sem.waiting(), 0u);
}

template <class Executor>
class abandon_on : public testing::Test {
 protected:
  void run() {
    if constexpr (requires { executor.run_all(); }) {
      executor.run_all();
    } else {
      executor.finish();
      executor.run();
    }
  }
  Executor executor;
};
using executors = testing::Types<test::manual_executor, run_loop>;
TYPED_TEST_SUITE(abandon_on, executors);

TYPED_TEST(abandon_on, G2_an_undelivered_permit_is_given_back) {
  semaphore sem(0);
  bool reached = false;
  auto waits = wait_for([&] { return sem.acquire(2).as_result().resume_on(this->executor); }, reached);
  sem.release(2);
  EXPECT_EQ(sem.available(), 0u);
  waits.destroy();
  EXPECT_EQ(sem.available(), 2u);
  this->run();
  EXPECT_FALSE(reached);
}

TYPED_TEST(abandon_on, G2_an_undelivered_permit_goes_to_the_next_that_waits) {
  semaphore sem(0);
  bool reached = false;
  bool granted = false;
  auto waits = wait_for([&] { return sem.scoped_acquire().within(1h).resume_on(this->executor); }, reached);
  auto behind = sem.acquire().start([&](result<> outcome) { granted = outcome.has_value(); });
  sem.release();
  EXPECT_FALSE(granted);
  waits.destroy();
  EXPECT_TRUE(granted);
  this->run();
  EXPECT_FALSE(reached);
}

TYPED_TEST(abandon_on, G2_an_undelivered_lock_is_unlocked) {
  mutex m;
  bool reached = false;
  ASSERT_TRUE(m.try_lock());
  auto waits = wait_for([&] { return m.lock().as_result().resume_on(this->executor); }, reached);
  m.unlock();
  EXPECT_TRUE(m.locked());
  waits.destroy();
  EXPECT_FALSE(m.locked());
  this->run();
  EXPECT_FALSE(reached);
}

TYPED_TEST(abandon_on, G2_a_permit_that_had_not_to_be_waited_for_but_not_been_delivered_is_given_back) {
  semaphore sem(1);
  bool reached = false;
  auto waits = wait_for([&] { return sem.acquire().as_result().resume_on(this->executor); }, reached);
  EXPECT_FALSE(reached) << "resume_on moves, also when nothing had to be waited for";
  EXPECT_EQ(sem.available(), 0u);
  waits.destroy();
  EXPECT_EQ(sem.available(), 1u);
  this->run();
}

TYPED_TEST(abandon_on, G1_a_failure_that_has_not_been_delivered_is_dropped) {
  std::optional<semaphore> sem(std::in_place, 0);
  bool reached = false;
  auto waits = wait_for([&] { return sem->acquire().as_result().resume_on(this->executor); }, reached);
  sem.reset();
  waits.destroy();
  this->run();
  EXPECT_FALSE(reached);
}

TYPED_TEST(abandon_on, G2_an_undelivered_signal_that_was_given_again_meanwhile_is_given_back_once) {
  semaphore signal(0, 1);
  bool reached = false;
  auto waits = wait_for([&] { return signal.acquire().as_result().resume_on(this->executor); }, reached);
  signal.release();
  signal.release();
  waits.destroy();
  EXPECT_EQ(signal.available(), 1u);
  this->run();
}

task<> waits_in_when_all(semaphore& sem) { co_await when_all(only_waits(sem), only_waits(sem)); }

task<> waits_in_when_all_of_many(semaphore& sem) {
  std::vector<task<>> many;
  for (int i = 0; i < 3; ++i) many.push_back(only_waits(sem));
  co_await when_all(std::move(many));
}

template <class Make>
foreign awaits(Make make, semaphore& sem) {
  co_await make(sem);
}

TEST(abandon, G1_a_when_all_destroyed_while_its_children_wait_withdraws_them) {
  semaphore sem(0);
  auto two = awaits(waits_in_when_all, sem);
  auto many = awaits(waits_in_when_all_of_many, sem);
  EXPECT_EQ(sem.waiting(), 5u);
  two.destroy();
  many.destroy();
  EXPECT_EQ(sem.waiting(), 0u);
}

TEST(abandon, G2_a_coroutine_destroyed_by_one_that_was_granted_with_it_gives_its_grant_back) {
  semaphore sem(0);
  bool reached = false;
  std::optional<foreign> second;
  auto first = sem.acquire().start([&](result<>) { second.reset(); });
  second.emplace(wait_for([&] { return sem.acquire().as_result(); }, reached));
  sem.release(2);  // both are told in the flat loop; the first destroys the second
  EXPECT_FALSE(reached);
  EXPECT_EQ(sem.available(), 1u);
}

TEST(abandon, G1_a_task_destroyed_with_its_parent_withdraws_its_wait) {
  semaphore sem(0);
  auto child = [](semaphore& waited) -> task<> { co_await waited.acquire(); };
  auto parent = [](auto& make_child, semaphore& waited) -> foreign { co_await make_child(waited); };
  auto waits = parent(child, sem);
  EXPECT_EQ(sem.waiting(), 1u);
  waits.destroy();
  EXPECT_EQ(sem.waiting(), 0u);
}

}  // namespace
}  // namespace weir
