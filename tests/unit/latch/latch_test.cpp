#include <atomic>
#include <chrono>
#include <deque>
#include <limits>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/latch.hpp>
#include <weir/select.hpp>
#include <weir/task.hpp>

#include <support/arrivals.hpp>
#include <support/foreign.hpp>
#include <support/manual_executor.hpp>
#include <support/notes.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using test::a_waiter_destroys_its_object;
using test::four_arrivals_give_up;
using test::message_of;
using test::notes;

TEST(latch, opens_when_all_are_counted_and_stays_open) {
  latch all(3);
  EXPECT_FALSE(all.try_wait());
  all.count_down(2);
  EXPECT_FALSE(all.try_wait());
  all.count_down();
  EXPECT_TRUE(all.try_wait());
  all.wait().wait();
  all.wait().wait();
}

TEST(latch, of_0_is_open_at_once) {
  latch none(0);
  EXPECT_TRUE(none.try_wait());
  none.wait().wait();
  EXPECT_EQ(message_of<std::invalid_argument>([&] { none.count_down(); }),
            "weir::latch::count_down(1): only 0 are left");
}

TEST(latch, G3_the_last_count_tells_all_waiters_in_order) {
  latch all(2);
  notes log;
  std::vector<ticket> tickets;
  for (int id = 0; id < 3; ++id) tickets.push_back(all.wait().start(log.note(id)));
  EXPECT_EQ(all.waiting(), 3u);
  all.count_down();
  EXPECT_TRUE(log.granted.empty());
  all.count_down();
  EXPECT_EQ(log.granted, (std::vector{0, 1, 2}));
  EXPECT_EQ(all.waiting(), 0u);
  EXPECT_TRUE(all.check_invariants());
}

TEST(latch, G12_a_wrong_count_is_refused_and_changes_nothing) {
  latch all(2);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { all.count_down(0); }),
            "weir::latch::count_down(0): at least 1 has to be counted down");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { all.count_down(3); }),
            "weir::latch::count_down(3): only 2 are left");
  const std::size_t most = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(message_of<std::invalid_argument>([&] { all.count_down(most); }),
            "weir::latch::count_down(" + std::to_string(most) + "): only 2 are left");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { all.arrive_and_wait(0).wait(); }),
            "weir::latch::arrive_and_wait(0): at least 1 has to be counted down");
  notes log;
  auto waits = all.wait().start(log.note(0));
  EXPECT_EQ(message_of<std::invalid_argument>([&] { all.count_down(3); }),
            "weir::latch::count_down(3): only 2 are left");
  all.count_down(2);
  EXPECT_EQ(log.granted, (std::vector{0}));
}

TEST(latch, G12_one_that_could_not_be_counted_is_refused) {
  latch largest(latch::max());
  EXPECT_FALSE(largest.try_wait());
  largest.count_down(latch::max());
  EXPECT_TRUE(largest.try_wait());
  EXPECT_EQ(message_of<std::invalid_argument>([] { latch larger(latch::max() + 1); }),
            "weir::latch(" + std::to_string(latch::max() + 1) + "): at most " + std::to_string(latch::max()) +
                " can be counted");
}

TEST(latch, an_arrival_counts_when_the_wait_is_started_and_not_before) {
  latch all(2);
  notes log;
  auto described = all.arrive_and_wait();
  EXPECT_EQ(message_of<std::invalid_argument>([&] { all.count_down(3); }),
            "weir::latch::count_down(3): only 2 are left");
  auto waits = std::move(described).start(log.note(0));
  EXPECT_EQ(message_of<std::invalid_argument>([&] { all.count_down(2); }),
            "weir::latch::count_down(2): only 1 is left");
  all.arrive_and_wait().wait();
  EXPECT_EQ(log.granted, (std::vector{0}));
}

TEST(latch, arriving_may_count_several) {
  latch all(5);
  notes log;
  auto waits = all.arrive_and_wait(3).start(log.note(0));
  all.arrive_and_wait(2).wait();
  EXPECT_EQ(log.granted, (std::vector{0}));
}

TEST(latch, G12_too_large_an_arrival_is_reported_by_the_wait_and_changes_nothing) {
  latch all(2);
  const std::string expected = "weir::latch::arrive_and_wait(3): only 2 are left";
  EXPECT_EQ(message_of<std::invalid_argument>([&] { all.arrive_and_wait(3).wait(); }), expected);
  auto reported = all.arrive_and_wait(3).as_result().wait();
  EXPECT_EQ(reported.error(), errc::failed);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { std::rethrow_exception(reported.exception()); }), expected);
  EXPECT_EQ(message_of<std::invalid_argument>(
                [&] { sync_wait([](latch& l) -> task<void> { co_await l.arrive_and_wait(3); }(all)); }),
            expected);
  event never;
  EXPECT_EQ(message_of<std::invalid_argument>([&] { select(never.wait(), all.arrive_and_wait(3)).wait(); }), expected);
  auto branch = std::get<1>(select(never.wait(), all.arrive_and_wait(3).as_result()).wait());
  EXPECT_EQ(message_of<std::invalid_argument>([&] { branch.value(); }), expected);
  std::error_code told;
  auto waits = all.arrive_and_wait(3).start([&](result<> outcome) { told = outcome.error(); });
  EXPECT_EQ(told, errc::failed);
  EXPECT_EQ(all.waiting(), 0u);
  EXPECT_FALSE(all.try_wait());
  all.count_down(2);
  EXPECT_TRUE(all.try_wait());
}

TEST(latch, an_arrival_stays_counted_when_its_wait_gives_up) {
  manual_timers clock;
  use_timers use(clock);
  latch all(5);
  four_arrivals_give_up(all, clock);
  EXPECT_TRUE(all.arrive_and_wait().within(0s).wait()) << "the last of five, of which four gave up, has to wait";
  EXPECT_TRUE(all.try_wait());
}

TEST(latch, a_stop_that_was_requested_before_counts_nothing) {
  latch all(1);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(all.arrive_and_wait().stop_on(stop.get_token()).wait().error(), errc::cancelled);
  EXPECT_FALSE(all.try_wait());
  all.count_down();
  EXPECT_EQ(all.wait().stop_on(stop.get_token()).wait().error(), errc::cancelled);
}

TEST(latch, an_arrival_stays_counted_when_its_select_is_won_by_another) {
  latch all(3);
  event ready;
  std::optional<std::size_t> won;
  auto waits = select(all.arrive_and_wait(), ready.wait()).start([&](auto outcome) { won = outcome->index(); });
  EXPECT_EQ(all.waiting(), 1u);
  ready.set();
  EXPECT_EQ(won, 1u);
  EXPECT_EQ(all.waiting(), 0u);
  EXPECT_EQ(select(all.arrive_and_wait(), ready.wait()).wait().index(), 1u);
  EXPECT_EQ(select(all.arrive_and_wait(), ready.wait()).wait().index(), 0u) << "the third arrival opens it";
  EXPECT_EQ(select(all.wait(), ready.wait()).wait().index(), 0u);
}

TEST(latch, a_select_that_lists_it_twice_arrives_twice) {
  latch all(2);
  EXPECT_EQ(select(all.arrive_and_wait(), all.arrive_and_wait()).wait().index(), 1u);
  EXPECT_TRUE(all.try_wait());
}

test::foreign arrive_at(latch& all, bool& through) {
  co_await all.arrive_and_wait();
  through = true;
}

TEST(latch, an_arrival_stays_counted_when_its_coroutine_is_destroyed) {
  latch all(2);
  bool through = false;
  auto waits = arrive_at(all, through);
  EXPECT_EQ(all.waiting(), 1u);
  waits.destroy();
  EXPECT_EQ(all.waiting(), 0u);
  all.count_down();
  EXPECT_TRUE(all.try_wait());
  EXPECT_FALSE(through);
}

TEST(latch, cancel_all_withdraws_those_that_wait_now) {
  latch all(2);
  notes log;
  auto first = all.wait().start(log.note(0));
  auto second = all.arrive_and_wait().start(log.note(1));
  EXPECT_EQ(all.cancel_all(), 2u);
  EXPECT_EQ(log.failed, (std::vector<std::error_code>{errc::cancelled, errc::cancelled}));
  all.count_down();
  EXPECT_TRUE(all.try_wait());
}

TEST(latch, G11_closed_wins_over_open_and_stays) {
  latch all(3);
  notes log;
  auto waits = all.wait().start(log.note(0));
  all.close();
  EXPECT_EQ(log.failed, (std::vector<std::error_code>{errc::closed}));
  EXPECT_EQ(all.arrive_and_wait(9).as_result().wait().error(), errc::closed);
  EXPECT_EQ(all.arrive_and_wait().as_result().wait().error(), errc::closed);
  all.count_down(2);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { all.count_down(); }),
            "weir::latch::count_down(1): only 0 are left");
  EXPECT_FALSE(all.try_wait());
  EXPECT_EQ(all.wait().as_result().wait().error(), errc::closed);
  EXPECT_TRUE(all.closed());
}

TEST(latch, G11_destroying_it_completes_its_waiters) {
  notes log;
  std::optional<latch> all(std::in_place, 2);
  auto first = all->wait().start(log.note(0));
  auto second = all->arrive_and_wait().start(log.note(1));
  all.reset();
  EXPECT_EQ(log.failed, (std::vector<std::error_code>{errc::closed, errc::closed}));
}

TEST(latch, G6_whom_it_lets_through_may_destroy_it) {
  const auto arrive_and_wait = [](latch& all) { return all.arrive_and_wait(); };
  a_waiter_destroys_its_object<latch>(2, arrive_and_wait, [](latch& all) { all.arrive_and_wait().wait(); });
  a_waiter_destroys_its_object<latch>(1, [](latch& all) { return all.wait(); }, [](latch& all) { all.count_down(); });
}

TEST(latch, G10_what_was_done_before_arriving_is_visible_to_all_after_it) {
  constexpr int threads = 4;
  constexpr int rounds = 500;
  std::atomic<int> wrong{0};
  std::deque<latch> latches;
  for (int round = 0; round < rounds; ++round) latches.emplace_back(threads + 1u);
  std::vector<std::vector<int>> written(threads, std::vector<int>(rounds));
  std::vector<std::thread> workers;
  for (std::size_t id = 0; id < threads; ++id) {
    workers.emplace_back([&, id] {
      for (std::size_t round = 0; round < rounds; ++round) {
        written[id][round] = 1;
        if (round % 2 == 0) {
          latches[round].arrive_and_wait().wait();
        } else {
          latches[round].count_down();
          latches[round].wait().wait();
        }
        for (auto& of : written) wrong += of[round] != 1;
      }
    });
  }
  for (std::size_t round = 0; round < rounds; ++round) latches[round].arrive_and_wait().wait();
  for (auto& worker : workers) worker.join();
  EXPECT_EQ(wrong, 0);
  for (latch& each : latches) {
    EXPECT_TRUE(each.check_invariants());
    EXPECT_TRUE(each.try_wait());
  }
}

}  // namespace
}  // namespace weir
