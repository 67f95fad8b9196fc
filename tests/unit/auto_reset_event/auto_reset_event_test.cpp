#include <atomic>
#include <chrono>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weir/auto_reset_event.hpp>
#include <weir/select.hpp>
#include <weir/semaphore.hpp>
#include <weir/task.hpp>

#include <support/foreign.hpp>
#include <support/manual_executor.hpp>
#include <support/notes.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using test::notes;

TEST(auto_reset_event, a_set_that_comes_first_lets_the_next_wait_through_and_is_used_up) {
  auto_reset_event ready;
  EXPECT_FALSE(ready.is_set());
  ready.set();
  EXPECT_TRUE(ready.is_set());
  ready.wait().wait();
  EXPECT_FALSE(ready.is_set());
  EXPECT_EQ(ready.wait().within(0s).wait().error(), errc::timed_out);
}

TEST(auto_reset_event, may_start_set) {
  auto_reset_event ready(true);
  EXPECT_TRUE(ready.wait().within(0s).wait());
  EXPECT_FALSE(ready.wait().within(0s).wait());
}

TEST(auto_reset_event, sets_do_not_add_up) {
  auto_reset_event ready;
  ready.set();
  ready.set();
  EXPECT_TRUE(ready.wait().within(0s).wait());
  EXPECT_FALSE(ready.wait().within(0s).wait());
}

TEST(auto_reset_event, a_reset_takes_the_set_back) {
  auto_reset_event ready(true);
  ready.reset();
  EXPECT_FALSE(ready.is_set());
  EXPECT_FALSE(ready.wait().within(0s).wait());
  ready.reset();
  ready.set();
  EXPECT_TRUE(ready.is_set());
}

TEST(auto_reset_event, G3_G4_each_set_lets_the_first_waiter_through_and_nobody_else) {
  auto_reset_event ready;
  notes log;
  std::vector<ticket> tickets;
  for (int id = 0; id < 3; ++id) tickets.push_back(ready.wait().start(log.note(id)));
  EXPECT_EQ(ready.waiting(), 3u);
  ready.set();
  EXPECT_EQ(log.granted, (std::vector{0}));
  EXPECT_FALSE(ready.is_set()) << "a set that was handed over is still there";
  ready.set();
  ready.set();
  EXPECT_EQ(log.granted, (std::vector{0, 1, 2}));
  EXPECT_EQ(ready.waiting(), 0u);
  EXPECT_TRUE(ready.check_invariants());
}

TEST(auto_reset_event, G2_a_wait_that_gave_up_has_used_up_no_set) {
  manual_timers clock;
  use_timers use(clock);
  auto_reset_event ready;
  notes log;
  std::stop_source stop;
  auto timed = ready.wait().within(1s).start(log.note(0));
  auto stopped = ready.wait().stop_on(stop.get_token()).start(log.note(1));
  auto cancelled = ready.wait().start(log.note(2));
  auto last = ready.wait().start(log.note(3));
  clock.advance(2s);
  stop.request_stop();
  EXPECT_TRUE(cancelled.cancel());
  EXPECT_EQ(log.failed, (std::vector<std::error_code>{errc::timed_out, errc::cancelled, errc::cancelled}));
  EXPECT_EQ(ready.waiting(), 1u);
  ready.set();
  EXPECT_EQ(log.granted, (std::vector{3}));
  EXPECT_FALSE(last.cancel()) << "one that was granted was cancelled";
}

TEST(auto_reset_event, a_stop_that_was_requested_before_takes_nothing) {
  auto_reset_event ready(true);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(ready.wait().stop_on(stop.get_token()).wait().error(), errc::cancelled);
  EXPECT_TRUE(ready.is_set());
}

TEST(auto_reset_event, cancel_all_withdraws_those_that_wait_now_and_leaves_it_usable) {
  auto_reset_event ready;
  notes log;
  auto first = ready.wait().start(log.note(0));
  auto second = ready.wait().start(log.note(1));
  EXPECT_EQ(ready.cancel_all(), 2u);
  EXPECT_EQ(log.failed, (std::vector<std::error_code>{errc::cancelled, errc::cancelled}));
  ready.set();
  EXPECT_TRUE(ready.is_set());
}

TEST(auto_reset_event, G11_closed_wins_over_set_and_stays) {
  auto_reset_event ready;
  notes log;
  auto waits = ready.wait().start(log.note(0));
  ready.close();
  EXPECT_EQ(log.failed, (std::vector<std::error_code>{errc::closed}));
  EXPECT_TRUE(ready.closed());
  ready.set();
  EXPECT_EQ(ready.wait().as_result().wait().error(), errc::closed);
  EXPECT_THROW(ready.wait().wait(), std::system_error);
  EXPECT_TRUE(ready.is_set()) << "a wait that failed has used up the set";
}

TEST(auto_reset_event, G11_destroying_it_completes_its_waiters) {
  notes log;
  std::optional<auto_reset_event> ready(std::in_place);
  auto waits = ready->wait().start(log.note(0));
  ready.reset();
  EXPECT_EQ(log.failed, (std::vector<std::error_code>{errc::closed}));
}

TEST(auto_reset_event, G6_whom_it_lets_through_may_destroy_it) {
  std::optional<auto_reset_event> ready(std::in_place);
  auto waits = ready->wait().start([&](result<>) { ready.reset(); });
  ready->set();
  EXPECT_FALSE(ready);
}

test::foreign wait_on(auto_reset_event& ready, test::manual_executor& where, bool& through) {
  co_await ready.wait().resume_on(where);
  through = true;
}

TEST(auto_reset_event, G2_a_grant_that_could_not_be_delivered_goes_to_the_next_that_waits) {
  auto_reset_event ready;
  test::manual_executor where;
  bool through = false;
  notes log;
  auto first = wait_on(ready, where, through);
  ready.set();
  auto second = ready.wait().start(log.note(1));
  first.destroy();
  EXPECT_FALSE(through);
  EXPECT_EQ(log.granted, (std::vector{1}));
  EXPECT_FALSE(ready.is_set());
}

TEST(auto_reset_event, G2_a_grant_that_could_not_be_delivered_sets_it_again_if_nobody_waits) {
  auto_reset_event ready;
  test::manual_executor where;
  bool through = false;
  auto first = wait_on(ready, where, through);
  ready.set();
  EXPECT_FALSE(ready.is_set());
  first.destroy();
  EXPECT_TRUE(ready.is_set());
  EXPECT_EQ(where.run_all(), 0u);
}

TEST(auto_reset_event, G2_a_branch_that_lost_a_select_has_used_up_no_set) {
  auto_reset_event ready;
  auto_reset_event other;
  std::optional<std::size_t> won;
  auto waits = select(ready.wait(), other.wait()).start([&](auto outcome) { won = outcome->index(); });
  other.set();
  EXPECT_EQ(won, 1u);
  EXPECT_FALSE(other.is_set());
  EXPECT_EQ(ready.waiting(), 0u);
  ready.set();
  EXPECT_TRUE(ready.is_set());
  other.set();
  EXPECT_EQ(select(ready.wait(), other.wait()).wait().index(), 0u);
  EXPECT_FALSE(ready.is_set());
  EXPECT_TRUE(other.is_set());
}

TEST(auto_reset_event, G2_a_select_that_lists_it_twice_uses_up_one_set) {
  auto_reset_event ready;
  int told = 0;
  auto waits = select(ready.wait(), ready.wait()).start([&](auto) { ++told; });
  ready.set();
  EXPECT_EQ(told, 1);
  EXPECT_EQ(ready.waiting(), 0u);
  ready.set();
  EXPECT_TRUE(ready.is_set());
}

TEST(auto_reset_event, G1_G2_sets_and_waits_conserve_over_threads) {
  // Each set waits for the answer to the one before it, so none may add up, get lost or let two through.
  constexpr int rounds = 1500;
  auto_reset_event ready;
  semaphore answered(0);
  std::atomic<int> through{0};
  std::atomic<int> gave_up{0};
  std::vector<std::thread> waiters;
  for (int id = 0; id < 3; ++id) {
    waiters.emplace_back([&, id] {
      for (;;) {
        auto got = id == 0 ? ready.wait().within(20us).wait() : ready.wait().as_result().wait();
        if (got) {
          ++through;
          answered.release();
        } else if (got.error() == errc::closed) {
          return;
        } else {
          ++gave_up;
        }
      }
    });
  }
  for (int round = 0; round < rounds; ++round) {
    ready.set();
    answered.acquire().wait();
  }
  EXPECT_FALSE(ready.is_set());
  EXPECT_EQ(answered.available(), 0u);
  EXPECT_TRUE(ready.check_invariants());
  ready.close();
  for (auto& waiter : waiters) waiter.join();
  EXPECT_EQ(through, rounds);
}

}  // namespace
}  // namespace weir
