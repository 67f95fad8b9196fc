#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/barrier.hpp>
#include <weir/event.hpp>
#include <weir/select.hpp>
#include <weir/task.hpp>

#include <support/arrivals.hpp>
#include <support/foreign.hpp>
#include <support/notes.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using test::a_waiter_destroys_its_object;
using test::four_arrivals_give_up;
using test::message_of;
using test::notes;

static_assert(std::movable<barrier::token> && !std::copyable<barrier::token>);

TEST(barrier, lets_all_through_in_order_when_the_last_arrives_and_begins_again) {
  barrier all(3);
  for (int phase = 0; phase < 3; ++phase) {
    notes log;
    auto first = all.arrive_and_wait().start(log.note(0));
    auto second = all.arrive_and_wait().start(log.note(1));
    EXPECT_EQ(all.waiting(), 2u);
    EXPECT_TRUE(log.granted.empty());
    all.arrive_and_wait().wait();
    EXPECT_EQ(log.granted, (std::vector{0, 1}));
    EXPECT_EQ(all.waiting(), 0u);
    EXPECT_TRUE(all.check_invariants());
  }
}

TEST(barrier, of_1_never_waits) {
  int phases = 0;
  barrier alone(1, [&] { ++phases; });
  alone.arrive_and_wait().wait();
  alone.wait(alone.arrive()).wait();
  EXPECT_TRUE(alone.arrive_and_wait().within(0s).wait());
  EXPECT_EQ(phases, 3);
}

TEST(barrier, nothing_happens_before_the_operation_is_started) {
  barrier all(2);
  notes log;
  auto described = all.arrive_and_wait();
  auto token = all.arrive();
  EXPECT_FALSE(all.wait(token).within(0s).wait());
  std::move(described).wait();
  EXPECT_TRUE(all.wait(token).within(0s).wait());
}

TEST(barrier, a_token_waits_for_the_phase_of_its_arrival) {
  barrier all(2);
  notes log;
  auto first = all.arrive();
  auto waits = all.wait(first).start(log.note(0));
  auto second = all.arrive();
  EXPECT_EQ(log.granted, (std::vector{0}));
  auto third = all.arrive();
  EXPECT_TRUE(all.wait(first).within(0s).wait());
  EXPECT_TRUE(all.wait(std::move(second)).within(0s).wait());
  EXPECT_EQ(all.wait(third).within(0s).wait().error(), errc::timed_out);
  all.arrive();
  EXPECT_TRUE(all.wait(std::move(third)).within(0s).wait());
}

TEST(barrier, G12_a_token_that_is_not_its_own_is_refused) {
  barrier here(2);
  barrier there(2);
  auto token = there.arrive();
  EXPECT_EQ(message_of<std::invalid_argument>([&] { here.wait(token).wait(); }),
            "weir::barrier::wait(token): the token is of another barrier");
  auto moved = std::move(token);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { there.wait(token).wait(); }),
            "weir::barrier::wait(token): the token was moved from, it is of no arrival");
  token = std::move(moved);
  there.arrive();
  there.wait(token).wait();
}

TEST(barrier, G12_of_nobody_is_refused) {
  EXPECT_EQ(message_of<std::invalid_argument>([] { barrier none(0); }), "weir::barrier(0): at least 1 has to arrive");
}

TEST(barrier, the_completion_function_runs_before_anybody_is_told_and_the_phase_ends_after_it) {
  notes log;
  int runs = 0;
  std::optional<barrier> all;
  std::optional<barrier::token> early;
  bool ended_during = true;
  all.emplace(2, [&] {
    ++runs;
    EXPECT_TRUE(log.granted.empty());
    EXPECT_EQ(all->waiting(), 1u) << "it is run under no lock";
    EXPECT_TRUE(all->check_invariants());
    ended_during = all->wait(*early).within(0s).wait().has_value();
  });
  early.emplace(all->arrive());
  auto waits = all->wait(*early).start(log.note(0));
  EXPECT_EQ(runs, 0);
  all->arrive_and_wait().wait();
  EXPECT_EQ(runs, 1);
  EXPECT_FALSE(ended_during);
  EXPECT_EQ(log.granted, (std::vector{0}));
  EXPECT_TRUE(all->wait(*early).within(0s).wait());
}

TEST(barrier, G12_one_arrival_too_many_is_refused_and_changes_nothing) {
  // All have arrived only while the completion function runs.
  std::vector<std::string> refusals;
  barrier* self = nullptr;
  barrier all(2, [&] {
    refusals.push_back(message_of<std::logic_error>([&] { self->arrive(); }));
    refusals.push_back(message_of<std::logic_error>([&] { self->arrive_and_drop(); }));
    refusals.push_back(message_of<std::logic_error>([&] { self->arrive_and_wait().wait(); }));
    auto reported = self->arrive_and_wait().as_result().wait();
    EXPECT_EQ(reported.error(), errc::failed);
    refusals.push_back(message_of<std::logic_error>([&] { std::rethrow_exception(reported.exception()); }));
  });
  self = &all;
  all.arrive();
  all.arrive();
  const std::string why = "(): all 2 of this phase have arrived already";
  EXPECT_EQ(refusals, (std::vector{"weir::barrier::arrive" + why, "weir::barrier::arrive_and_drop" + why,
                                   "weir::barrier::arrive_and_wait" + why, "weir::barrier::arrive_and_wait" + why}));
  EXPECT_TRUE(all.check_invariants());
  auto token = all.arrive();
  EXPECT_FALSE(all.wait(token).within(0s).wait()) << "a phase of two ended after one";
}

TEST(barrier, a_completion_function_that_throws_terminates) {
  EXPECT_DEATH(
      {
        barrier all(1, [] { throw std::runtime_error("thrown by the completion function"); });
        all.arrive();
      },
      "thrown by the completion function");
}

TEST(barrier, who_drops_out_arrives_and_is_not_expected_again) {
  int phases = 0;
  barrier all(3, [&] { ++phases; });
  all.arrive_and_drop();
  all.arrive();
  EXPECT_EQ(phases, 0);
  all.arrive();
  EXPECT_EQ(phases, 1);
  all.arrive();
  all.arrive_and_drop();
  EXPECT_EQ(phases, 2);
  all.arrive_and_wait().wait();
  EXPECT_EQ(phases, 3);
  EXPECT_TRUE(all.check_invariants());
}

TEST(barrier, when_all_have_dropped_out_nobody_can_arrive) {
  int phases = 0;
  barrier all(2, [&] { ++phases; });
  notes log;
  auto waits = all.wait(all.arrive()).start(log.note(0));
  all.arrive_and_drop();
  EXPECT_EQ(log.granted, (std::vector{0}));
  all.arrive_and_drop();
  EXPECT_EQ(phases, 2);
  EXPECT_EQ(message_of<std::logic_error>([&] { all.arrive(); }),
            "weir::barrier::arrive(): all 0 of this phase have arrived already");
  EXPECT_EQ(message_of<std::logic_error>([&] { all.arrive_and_wait().wait(); }),
            "weir::barrier::arrive_and_wait(): all 0 of this phase have arrived already");
  EXPECT_EQ(phases, 2);
}

TEST(barrier, a_limit_withdraws_the_wait_and_not_the_arrival) {
  manual_timers clock;
  use_timers use(clock);
  int phases = 0;
  barrier all(5, [&] { ++phases; });
  four_arrivals_give_up(all, clock);
  EXPECT_EQ(phases, 0);
  all.arrive_and_wait().wait();
  EXPECT_EQ(phases, 1);
}

TEST(barrier, a_token_may_be_waited_with_again_after_a_limit) {
  manual_timers clock;
  use_timers use(clock);
  barrier all(2);
  notes log;
  auto token = all.arrive();
  auto first = all.wait(token).within(1s).start(log.note(0));
  clock.advance(2s);
  EXPECT_EQ(log.failed, (std::vector<std::error_code>{errc::timed_out}));
  auto second = all.wait(token).within(1s).start(log.note(1));
  all.arrive();
  EXPECT_EQ(log.granted, (std::vector{1}));
}

TEST(barrier, a_stop_that_was_requested_before_arrives_nowhere) {
  int phases = 0;
  barrier all(1, [&] { ++phases; });
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(all.arrive_and_wait().stop_on(stop.get_token()).wait().error(), errc::cancelled);
  EXPECT_EQ(phases, 0);
}

TEST(barrier, a_lost_select_withdraws_the_wait_and_not_the_arrival) {
  int phases = 0;
  barrier all(3, [&] { ++phases; });
  event ready;
  std::optional<std::size_t> won;
  auto waits = select(all.arrive_and_wait(), ready.wait()).start([&](auto outcome) { won = outcome->index(); });
  EXPECT_EQ(all.waiting(), 1u);
  ready.set();
  EXPECT_EQ(won, 1u);
  EXPECT_EQ(all.waiting(), 0u);
  EXPECT_EQ(select(all.arrive_and_wait(), ready.wait()).wait().index(), 1u);
  EXPECT_EQ(phases, 0);
  EXPECT_EQ(select(all.arrive_and_wait(), ready.wait()).wait().index(), 0u);
  EXPECT_EQ(phases, 1);
}

TEST(barrier, the_last_arrival_decides_a_select_elsewhere) {
  barrier all(2);
  event never;
  std::optional<std::size_t> won;
  auto waits = select(never.wait(), all.arrive_and_wait()).start([&](auto outcome) { won = outcome->index(); });
  all.arrive();
  EXPECT_EQ(won, 1u);
  EXPECT_EQ(never.waiting(), 0u);
}

test::foreign arrive_at(barrier& all, int& through) {
  for (;;) {
    co_await all.arrive_and_wait();
    ++through;
  }
}

test::foreign arrive_often(barrier& all, int times, int& through) {
  for (; times > 0; --times) {
    co_await all.arrive_and_wait();
    ++through;
  }
}

TEST(barrier, G7_coroutines_that_let_each_other_through_use_bounded_stack) {
  constexpr int phases = 200'000;
  int completed = 0;
  int through = 0;
  barrier all(2, [&] { ++completed; });
  auto first = arrive_often(all, phases, through);
  auto second = arrive_often(all, phases, through);
  EXPECT_TRUE(first.done() && second.done());
  EXPECT_EQ(completed, phases);
  EXPECT_EQ(through, 2 * phases);
}

TEST(barrier, an_arrival_stays_counted_when_its_coroutine_is_destroyed) {
  barrier all(2);
  int through = 0;
  auto waits = arrive_at(all, through);
  all.arrive();
  EXPECT_EQ(through, 1);
  EXPECT_EQ(all.waiting(), 1u) << "it has arrived in the second phase";
  waits.destroy();
  EXPECT_EQ(all.waiting(), 0u);
  all.arrive_and_wait().wait();
  EXPECT_EQ(through, 1);
}

TEST(barrier, cancel_all_withdraws_those_that_wait_now_and_leaves_the_arrivals) {
  barrier all(3);
  notes log;
  auto first = all.arrive_and_wait().start(log.note(0));
  auto second = all.arrive_and_wait().start(log.note(1));
  EXPECT_EQ(all.cancel_all(), 2u);
  EXPECT_EQ(log.failed, (std::vector<std::error_code>{errc::cancelled, errc::cancelled}));
  all.arrive_and_wait().wait();
}

TEST(barrier, G11_closed_wins_and_no_phase_ends_any_more) {
  int phases = 0;
  barrier all(2, [&] { ++phases; });
  auto before = all.arrive();
  all.arrive();
  notes log;
  auto waits = all.arrive_and_wait().start(log.note(0));
  all.close();
  EXPECT_EQ(log.failed, (std::vector<std::error_code>{errc::closed}));
  EXPECT_EQ(all.arrive_and_wait().as_result().wait().error(), errc::closed);
  auto token = all.arrive();
  all.arrive_and_drop();
  EXPECT_EQ(all.wait(token).as_result().wait().error(), errc::closed);
  EXPECT_EQ(all.wait(before).as_result().wait().error(), errc::closed);
  EXPECT_EQ(phases, 1);
  EXPECT_TRUE(all.closed());
}

TEST(barrier, one_that_its_completion_function_closes_tells_all_so) {
  notes log;
  barrier* self = nullptr;
  barrier all(2, [&] { self->close(); });
  self = &all;
  auto first = all.arrive_and_wait().start(log.note(0));
  EXPECT_EQ(all.arrive_and_wait().as_result().wait().error(), errc::closed);
  EXPECT_EQ(log.failed, (std::vector<std::error_code>{errc::closed}));
}

TEST(barrier, G11_destroying_it_completes_its_waiters) {
  notes log;
  std::optional<barrier> all(std::in_place, 3);
  auto first = all->arrive_and_wait().start(log.note(0));
  auto second = all->wait(all->arrive()).start(log.note(1));
  all.reset();
  EXPECT_EQ(log.failed, (std::vector<std::error_code>{errc::closed, errc::closed}));
}

TEST(barrier, G6_whom_it_lets_through_may_destroy_it) {
  const auto arrive_and_wait = [](barrier& all) { return all.arrive_and_wait(); };
  a_waiter_destroys_its_object<barrier>(2, arrive_and_wait, [](barrier& all) { all.arrive_and_wait().wait(); });
  a_waiter_destroys_its_object<barrier>(2, arrive_and_wait, [](barrier& all) { all.arrive(); });
}

TEST(barrier, G10_threads_go_through_their_phases_in_step) {
  constexpr std::size_t threads = 4;
  constexpr int phases = 1000;
  std::vector<int> at(threads, 0);  // written by its thread, read by the completion function
  int completed = 0;
  int out_of_step = 0;
  barrier all(threads, [&] {
    ++completed;
    for (int each : at) out_of_step += each != completed;
  });
  std::atomic<int> wrong{0};
  std::vector<std::thread> workers;
  for (std::size_t id = 0; id < threads; ++id) {
    workers.emplace_back([&, id] {
      for (int phase = 1; phase <= phases; ++phase) {
        at[id] = phase;
        if (id % 2 == 0) {
          all.arrive_and_wait().wait();
        } else {
          all.wait(all.arrive()).wait();
        }
        // The next completion needs this thread's arrival: what it writes cannot change before.
        wrong += completed != phase;
      }
    });
  }
  for (auto& worker : workers) worker.join();
  EXPECT_EQ(completed, phases);
  EXPECT_EQ(out_of_step, 0);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(all.waiting(), 0u);
  EXPECT_TRUE(all.check_invariants());
}

TEST(barrier, arrivals_count_exactly_while_limits_and_selects_race_the_end_of_the_phase) {
  constexpr std::size_t threads = 4;
  constexpr int phases = 500;
  int completed = 0;
  barrier all(threads, [&] { ++completed; });
  event never;
  std::vector<std::thread> workers;
  for (std::size_t id = 0; id < threads; ++id) {
    workers.emplace_back([&, id] {
      for (int phase = 0; phase < phases; ++phase) {
        if (id == 0) {
          EXPECT_EQ(select(never.wait(), all.arrive_and_wait()).wait().index(), 1u);
          continue;
        }
        auto token = all.arrive();
        if (!all.wait(token).within(10us).wait()) all.wait(token).wait();
      }
    });
  }
  for (auto& worker : workers) worker.join();
  EXPECT_EQ(completed, phases);
  EXPECT_TRUE(all.check_invariants());
}

}  // namespace
}  // namespace weir
