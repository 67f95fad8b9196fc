#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/future.hpp>
#include <weir/mutex.hpp>
#include <weir/select.hpp>
#include <weir/semaphore.hpp>
#include <weir/shared_mutex.hpp>
#include <weir/task.hpp>

#include <support/foreign.hpp>
#include <support/manual_executor.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;

TEST(select, yields_a_variant_of_the_value_types_in_order) {
  semaphore sem(1);
  mutex m;
  promise<std::string> made;
  auto text = made.get_future();
  auto first = select(sem.acquire(), m.scoped_lock(), text.get(), sem.acquire().as_result());
  static_assert(
      std::is_same_v<decltype(first)::value_type, std::variant<std::monostate, mutex::guard, std::string, result<>>>);
  EXPECT_EQ(std::move(first).wait().index(), 0u);
}

TEST(select, of_several_that_are_ready_the_first_listed_wins_and_the_others_take_nothing) {
  semaphore a(1);
  semaphore b(1);
  EXPECT_EQ(select(b.acquire(), a.acquire()).wait().index(), 0u);
  EXPECT_EQ(a.available(), 1u);
  EXPECT_EQ(b.available(), 0u);
  EXPECT_EQ(select(b.acquire(), a.acquire()).wait().index(), 1u);
  EXPECT_EQ(a.available(), 0u);
}

TEST(select, G2_the_branch_that_is_granted_decides_and_the_others_are_withdrawn) {
  semaphore a(0);
  semaphore b(0);
  event c;
  std::optional<std::size_t> won;
  auto waits = select(a.acquire(), b.acquire(), c.wait()).start([&](auto outcome) { won = outcome->index(); });
  EXPECT_EQ(a.waiting() + b.waiting() + c.waiting(), 3u);
  b.release();
  EXPECT_EQ(won, 1u);
  EXPECT_EQ(a.waiting() + b.waiting() + c.waiting(), 0u);
  a.release();
  EXPECT_EQ(a.available(), 1u) << "a branch that lost has taken a permit";
}

TEST(select, G5_withdrawing_a_branch_lets_those_behind_it_through) {
  semaphore a(1);
  event b;
  std::string order;
  auto waits = select(a.acquire(2), b.wait()).start([&](auto) { order += "select "; });
  auto behind = a.acquire(1).start([&](result<>) { order += "behind "; });
  EXPECT_TRUE(order.empty());
  b.set();
  EXPECT_EQ(order, "select behind ");
  EXPECT_EQ(a.waiting(), 0u);
}

TEST(select, the_same_object_may_be_listed_twice) {
  semaphore sem(0);
  std::optional<std::size_t> won;
  auto waits = select(sem.acquire(2), sem.acquire(1)).start([&](auto outcome) { won = outcome->index(); });
  auto behind = sem.acquire(1).start([](result<>) {});
  EXPECT_EQ(sem.waiting(), 3u);
  sem.release(1);
  EXPECT_FALSE(won) << "the first branch is first in line";
  sem.release(1);
  EXPECT_EQ(won, 0u);
  EXPECT_EQ(sem.waiting(), 1u);
  EXPECT_EQ(sem.available(), 0u);
  sem.release(1);
  EXPECT_TRUE(behind.done());
}

TEST(select, G11_a_branch_that_is_closed_is_the_failure_of_the_select) {
  semaphore a(0);
  event b;
  std::error_code seen;
  auto waits = select(a.acquire(), b.wait()).start([&](auto outcome) { seen = outcome.error(); });
  b.close();
  EXPECT_EQ(seen, errc::closed);
  EXPECT_EQ(a.waiting(), 0u);
  EXPECT_THROW((void)select(a.acquire(), b.wait()).wait(), std::system_error);
}

TEST(select, a_branch_that_reports_has_its_failure_as_its_alternative) {
  semaphore a(0);
  event b;
  std::optional<std::error_code> seen;
  auto waits =
      select(a.acquire(), b.wait().as_result()).start([&](auto outcome) { seen = std::get<1>(*outcome).error(); });
  b.close();
  EXPECT_EQ(seen, errc::closed);
  EXPECT_EQ(std::get<1>(select(a.acquire(), b.wait().as_result()).wait()).error(), errc::closed);
  a.release();
  EXPECT_EQ(select(a.acquire(), b.wait().as_result()).wait().index(), 0u);
}

TEST(select, a_lock_that_its_owner_waits_for_fails_it) {
  mutex m;
  event e;
  auto held = m.scoped_lock().wait();
  EXPECT_EQ(select(e.wait(), m.lock()).as_result().wait().error(), errc::would_deadlock);
  EXPECT_EQ(e.waiting(), 0u);
}

TEST(select, the_exception_of_a_future_is_the_failure_of_the_select) {
  semaphore sem(0);
  promise<int> made;
  auto gets = made.get_future();
  made.set_exception(std::make_exception_ptr(std::runtime_error("broken")));
  EXPECT_THROW((void)select(sem.acquire(), gets.get()).wait(), std::runtime_error);
}

TEST(select, G9_its_limits_are_those_of_the_whole) {
  manual_timers clock;
  use_timers by_hand(clock);
  semaphore a(0);
  event b;
  std::stop_source stop;
  std::vector<std::error_code> seen;
  auto note = [&](auto outcome) { seen.push_back(outcome.error()); };
  auto timed = select(a.acquire(), b.wait()).within(1ms).start(note);
  auto stopped = select(a.acquire(), b.wait()).stop_on(stop.get_token()).start(note);
  auto cancelled = select(a.acquire(), b.wait()).start(note);
  clock.advance(2ms);
  stop.request_stop();
  EXPECT_TRUE(cancelled.cancel());
  EXPECT_EQ(seen, (std::vector<std::error_code>{errc::timed_out, errc::cancelled, errc::cancelled}));
  EXPECT_EQ(a.waiting() + b.waiting(), 0u);
  EXPECT_EQ(select(a.acquire(), b.wait()).within(0s).wait().error(), errc::timed_out);
}

TEST(select, a_sleep_is_a_branch_like_any_other) {
  manual_timers clock;
  use_timers by_hand(clock);
  semaphore sem(0);
  std::optional<std::size_t> won;
  auto waits = select(sem.acquire(), sleep_for(1ms)).start([&](auto outcome) { won = outcome->index(); });
  clock.advance(2ms);
  EXPECT_EQ(won, 1u);
  EXPECT_EQ(sem.waiting(), 0u);
}

test::foreign selects(semaphore& a, semaphore& b, test::manual_executor& executor, std::size_t& won) {
  auto outcome = co_await select(a.scoped_acquire(), b.scoped_acquire()).resume_on(executor);
  won = outcome.index();
}

TEST(select, G2_a_coroutine_destroyed_in_it_is_withdrawn_or_gives_its_grant_back) {
  semaphore a(0);
  semaphore b(0);
  test::manual_executor executor;
  std::size_t won = 99;
  auto queued = selects(a, b, executor, won);
  queued.destroy();
  EXPECT_EQ(a.waiting() + b.waiting(), 0u);
  auto granted = selects(a, b, executor, won);
  b.release();
  EXPECT_EQ(b.available(), 0u);
  granted.destroy();
  EXPECT_EQ(b.available(), 1u);
  executor.run_all();
  EXPECT_EQ(won, 99u);
}

TEST(select, G11_an_object_may_be_destroyed_while_one_of_its_branches_waits) {
  std::optional<semaphore> a(std::in_place, 0);
  event b;
  std::error_code seen;
  auto waits = select(a->acquire(), b.wait()).start([&](auto outcome) { seen = outcome.error(); });
  a.reset();
  EXPECT_EQ(seen, errc::closed);
  EXPECT_EQ(b.waiting(), 0u);
}

task<std::size_t> selects_in_a_task(semaphore& a, mutex& m, event& e) {
  auto won = co_await select(a.scoped_acquire(), m.scoped_lock(), e.wait(), sleep_for(1h)).within(1h);
  co_return won->index();
}

TEST(select, every_way_of_waiting_can_select) {
  semaphore a(0);
  mutex m;
  event e;
  ASSERT_TRUE(m.try_lock());
  thread_pool pool(1);
  auto asks = spawn(pool, selects_in_a_task(a, m, e));
  std::size_t blocked_won = 99;
  std::jthread blocked([&] { blocked_won = select(a.acquire(), e.wait()).wait().index(); });
  while (e.waiting() != 2) std::this_thread::yield();
  m.unlock();
  EXPECT_EQ(asks.get().wait(), 1u);
  a.release();
  blocked.join();
  EXPECT_EQ(blocked_won, 0u);
  EXPECT_EQ(e.waiting(), 0u);
}

TEST(select, has_room_for_eight_branches) {
  std::vector<std::unique_ptr<event>> events;
  for (int i = 0; i < 8; ++i) events.push_back(std::make_unique<event>());
  auto at = [&](std::size_t i) { return events[i]->wait(); };
  std::optional<std::size_t> won;
  auto waits = select(at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)).start([&](auto outcome) {
    won = outcome->index();
  });
  events[6]->set();
  EXPECT_EQ(won, 6u);
  for (auto& each : events) EXPECT_EQ(each->waiting(), 0u);
}

TEST(select, a_branch_that_lost_lets_go_of_what_it_was_given_when_the_callback_is_called) {
  shared_mutex m;
  ASSERT_TRUE(m.try_lock_shared());
  auto mine = m.try_scoped_lock_shared();
  event ready;
  auto ticket = select(upgrade(std::move(mine)), ready.wait()).start([](const auto&) {});
  EXPECT_EQ(m.readers(), 2u);
  ready.set();
  EXPECT_EQ(m.readers(), 1u) << "the ticket keeps the guard";
  EXPECT_TRUE(ticket.done());
  m.unlock_shared();
}

}  // namespace
}  // namespace weir
