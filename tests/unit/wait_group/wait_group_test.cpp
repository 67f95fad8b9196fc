#include <atomic>
#include <chrono>
#include <limits>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/select.hpp>
#include <weir/task.hpp>
#include <weir/wait_group.hpp>

#include <support/notes.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using test::message_of;
using test::notes;

TEST(wait_group, does_not_wait_while_nothing_is_under_way) {
  wait_group group;
  group.wait().wait();
  group.add(0);
  EXPECT_TRUE(group.wait().within(0s).wait());
}

TEST(wait_group, waits_until_all_that_was_added_is_done) {
  wait_group group;
  notes log;
  group.add(2);
  group.add();
  auto waits = group.wait().start(log.note(0));
  group.done();
  group.done();
  EXPECT_TRUE(log.granted.empty());
  group.done();
  EXPECT_EQ(log.granted, (std::vector{0}));
  EXPECT_EQ(group.waiting(), 0u);
}

TEST(wait_group, says_how_many_are_under_way) {
  wait_group group;
  EXPECT_EQ(group.count(), 0u);
  group.add(3);
  group.done();
  EXPECT_EQ(group.count(), 2u);
  group.close();
  EXPECT_EQ(group.count(), 2u);
}

TEST(wait_group, waits_again_after_more_is_added) {
  wait_group group;
  for (int round = 0; round < 3; ++round) {
    notes log;
    group.add();
    EXPECT_EQ(group.wait().within(0s).wait().error(), errc::timed_out);
    auto waits = group.wait().start(log.note(round));
    EXPECT_TRUE(log.granted.empty());
    group.done();
    EXPECT_EQ(log.granted, (std::vector{round}));
    group.wait().wait();
  }
}

TEST(wait_group, G3_the_last_done_tells_all_waiters_in_order) {
  wait_group group;
  group.add();
  notes log;
  std::vector<ticket> tickets;
  for (int id = 0; id < 3; ++id) tickets.push_back(group.wait().start(log.note(id)));
  EXPECT_EQ(group.waiting(), 3u);
  group.done();
  EXPECT_EQ(log.granted, (std::vector{0, 1, 2}));
  EXPECT_TRUE(group.check_invariants());
}

TEST(wait_group, a_waiter_that_adds_more_does_not_stop_those_that_were_told_with_it) {
  wait_group group;
  group.add();
  int told = 0;
  auto first = group.wait().start([&](result<>) {
    group.add();
    ++told;
  });
  auto second = group.wait().start([&](result<>) { ++told; });
  group.done();
  EXPECT_EQ(told, 2);
  EXPECT_FALSE(group.wait().within(0s).wait());
}

TEST(wait_group, G12_a_done_without_add_is_refused_and_changes_nothing) {
  wait_group group;
  const std::string expected = "weir::wait_group::done(): 0 are not done yet: done() was called without add()";
  EXPECT_EQ(message_of<std::invalid_argument>([&] { group.done(); }), expected);
  group.add();
  EXPECT_FALSE(group.wait().within(0s).wait());
  group.done();
  EXPECT_EQ(message_of<std::invalid_argument>([&] { group.done(); }), expected);
  EXPECT_TRUE(group.wait().within(0s).wait());
}

TEST(wait_group, G12_more_than_can_be_counted_is_refused_and_changes_nothing) {
  const std::string most = std::to_string(wait_group::max());
  wait_group group;
  group.add(wait_group::max());
  EXPECT_EQ(message_of<std::overflow_error>([&] { group.add(); }),
            "weir::wait_group::add(1): " + most + " are not done yet, of at most " + most);
  group.done();
  group.add();
  wait_group another;
  another.add();
  const std::size_t largest = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(message_of<std::overflow_error>([&] { another.add(largest); }),
            "weir::wait_group::add(" + std::to_string(largest) + "): 1 are not done yet, of at most " + most);
  another.done();
  another.wait().wait();
}

TEST(wait_group, G2_a_wait_that_gave_up_is_told_so_and_the_others_wait_on) {
  manual_timers clock;
  use_timers use(clock);
  wait_group group;
  group.add();
  notes log;
  std::stop_source stop;
  auto timed = group.wait().within(1s).start(log.note(0));
  auto stopped = group.wait().stop_on(stop.get_token()).start(log.note(1));
  auto cancelled = group.wait().start(log.note(2));
  auto last = group.wait().start(log.note(3));
  clock.advance(2s);
  stop.request_stop();
  EXPECT_TRUE(cancelled.cancel());
  EXPECT_EQ(log.failed, (std::vector<std::error_code>{errc::timed_out, errc::cancelled, errc::cancelled}));
  EXPECT_EQ(group.waiting(), 1u);
  group.done();
  EXPECT_EQ(log.granted, (std::vector{3}));
  EXPECT_FALSE(last.cancel());
}

TEST(wait_group, cancel_all_withdraws_those_that_wait_now_and_leaves_the_count) {
  wait_group group;
  group.add();
  notes log;
  auto first = group.wait().start(log.note(0));
  auto second = group.wait().start(log.note(1));
  EXPECT_EQ(group.cancel_all(), 2u);
  EXPECT_EQ(log.failed, (std::vector<std::error_code>{errc::cancelled, errc::cancelled}));
  EXPECT_FALSE(group.wait().within(0s).wait());
  group.done();
  group.wait().wait();
}

TEST(wait_group, G11_closed_wins_over_done_and_stays) {
  wait_group group;
  group.add();
  notes log;
  auto waits = group.wait().start(log.note(0));
  group.close();
  EXPECT_EQ(log.failed, (std::vector<std::error_code>{errc::closed}));
  group.add();
  group.done();
  group.done();
  EXPECT_EQ(group.wait().as_result().wait().error(), errc::closed);
  EXPECT_THROW(group.done(), std::invalid_argument);
  EXPECT_TRUE(group.closed());
}

TEST(wait_group, G11_destroying_it_completes_its_waiters) {
  notes log;
  std::optional<wait_group> group(std::in_place);
  group->add();
  auto waits = group->wait().start(log.note(0));
  group.reset();
  EXPECT_EQ(log.failed, (std::vector<std::error_code>{errc::closed}));
}

TEST(wait_group, G6_whom_it_lets_through_may_destroy_it) {
  std::optional<wait_group> group(std::in_place);
  group->add();
  auto waits = group->wait().start([&](result<>) { group.reset(); });
  group->done();
  EXPECT_FALSE(group);
}

TEST(wait_group, is_a_branch_of_a_select) {
  wait_group group;
  event ready;
  group.add();
  std::optional<std::size_t> won;
  auto lost = select(group.wait(), ready.wait()).start([&](auto outcome) { won = outcome->index(); });
  ready.set();
  EXPECT_EQ(won, 1u);
  EXPECT_EQ(group.waiting(), 0u);
  ready.reset();
  auto wins = select(group.wait(), ready.wait()).start([&](auto outcome) { won = outcome->index(); });
  group.done();
  EXPECT_EQ(won, 0u);
  EXPECT_EQ(ready.waiting(), 0u);
}

TEST(wait_group, G1_G10_every_wait_sees_all_that_was_done_before_it) {
  constexpr std::size_t workers = 3;
  constexpr int rounds = 500;
  wait_group under_way;
  std::vector<int> written(workers, 0);
  std::atomic<int> may_begin{0};
  std::vector<std::thread> threads;
  for (std::size_t id = 0; id < workers; ++id) {
    threads.emplace_back([&, id] {
      for (int round = 1; round <= rounds; ++round) {
        for (int seen = may_begin; seen < round; seen = may_begin) may_begin.wait(seen);
        ++written[id];
        under_way.done();
      }
    });
  }
  for (int round = 1; round <= rounds; ++round) {
    under_way.add(workers);
    may_begin = round;
    may_begin.notify_all();
    under_way.wait().wait();
    EXPECT_EQ(written, std::vector<int>(workers, round));
  }
  for (auto& thread : threads) thread.join();
  EXPECT_TRUE(under_way.check_invariants());
}

TEST(wait_group, G1_every_wait_completes_while_others_add_and_do) {
  constexpr int rounds = 2000;
  wait_group group;
  std::atomic<int> told{0};
  std::vector<std::thread> threads;
  for (int id = 0; id < 3; ++id) {
    threads.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        group.add();
        std::ignore = group.wait().start([&](result<>) { ++told; });
        group.done();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  group.wait().wait();
  EXPECT_EQ(told, 3 * rounds);
  EXPECT_EQ(group.waiting(), 0u);
}

}  // namespace
}  // namespace weir
