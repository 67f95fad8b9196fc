// The limit of a pool while it changes, what it counts, and what a stop leaves.

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/pool.hpp>
#include <weir/task.hpp>

#include <support/foreign.hpp>
#include <support/manual_executor.hpp>

namespace weir {
namespace {

using test::manual_executor;

/// Tasks that run until each is let go, or fails; and submits that wait.
class pool_of_three : public testing::Test {
 public:
  struct one {
    event open;
    bool fails = false;
    bool started = false;
    std::optional<future<int>> made;
    std::optional<std::error_code> refused;
    ticket waits;
  };

  static task<int> body(one& self) {
    self.started = true;
    co_await self.open.wait();
    if (self.fails) throw std::runtime_error("failed");
    co_return 1;
  }

  one& submit() {
    auto& added = *all.emplace_back(std::make_unique<one>());
    added.waits = jobs.submit(body(added)).start([&added](result<future<int>> granted) {
      if (granted) {
        added.made = std::move(*granted);
      } else {
        added.refused = granted.error();
      }
    });
    executor.run_all();
    return added;
  }

  void let_go(std::size_t id) {
    all[id]->open.set();
    executor.run_all();
  }

  [[nodiscard]] std::string started() const {
    std::string which;
    for (const auto& each : all) which += each->started ? '1' : '0';
    return which;
  }

  manual_executor executor;
  std::vector<std::unique_ptr<one>> all;
  pool jobs{executor, 3};
};

TEST_F(pool_of_three, starts_as_many_as_a_larger_limit_allows_in_order) {
  for (int i = 0; i < 7; ++i) submit();
  EXPECT_EQ(started(), "1110000");
  jobs.resize(5);
  executor.run_all();
  EXPECT_EQ(started(), "1111100");
  EXPECT_EQ(jobs.running(), 5u);
  EXPECT_EQ(jobs.peak(), 5u);
  EXPECT_EQ(jobs.waiting(), 2u);
  jobs.resize(5);
  EXPECT_EQ(jobs.running(), 5u);
  jobs.resize(100);
  executor.run_all();
  EXPECT_EQ(started(), "1111111");
  EXPECT_EQ(jobs.peak(), 7u);
  for (std::size_t id = 0; id < 7; ++id) let_go(id);
  EXPECT_EQ(jobs.completed(), 7u);
  EXPECT_EQ(jobs.running(), 0u);
  EXPECT_EQ(jobs.peak(), 7u) << "the most that ever ran";
}

TEST_F(pool_of_three, that_shrinks_and_grows_while_tasks_run_starts_none_too_many_and_none_too_few) {
  for (int i = 0; i < 8; ++i) submit();
  jobs.resize(2);
  let_go(0);
  EXPECT_EQ(jobs.running(), 2u);
  EXPECT_EQ(started(), "11100000") << "three ran, two may";
  EXPECT_TRUE(jobs.check_invariants());
  let_go(1);
  EXPECT_EQ(started(), "11110000");
  EXPECT_EQ(jobs.running(), 2u);
  jobs.resize(1);
  let_go(2);
  EXPECT_EQ(started(), "11110000");
  EXPECT_EQ(jobs.running(), 1u);
  jobs.resize(3);
  executor.run_all();
  EXPECT_EQ(started(), "11111100");
  EXPECT_EQ(jobs.running(), 3u);
  jobs.resize(1);
  for (const std::size_t id : {5u, 4u}) let_go(id);
  EXPECT_EQ(started(), "11111100");
  let_go(3);
  EXPECT_EQ(started(), "11111110");
  EXPECT_EQ(jobs.peak(), 3u);
  let_go(6);
  let_go(7);
  EXPECT_EQ(jobs.completed(), 8u);
}

TEST_F(pool_of_three, that_is_full_after_it_shrank_takes_nothing_by_try_submit) {
  submit();
  submit();
  jobs.resize(2);
  auto mine = body(*all[0]);
  EXPECT_FALSE(jobs.try_submit(std::move(mine)));
  EXPECT_TRUE(mine);
  jobs.resize(3);
  auto taken = jobs.try_submit(std::move(mine));
  ASSERT_TRUE(taken);
  EXPECT_FALSE(mine);
  EXPECT_EQ(jobs.running(), 3u) << "taken when it was submitted, not when it starts";
  let_go(0);
  let_go(1);
  EXPECT_EQ(jobs.completed(), 3u);
}

TEST_F(pool_of_three, counts_values_and_exceptions_apart_and_withdrawn_submits_not_at_all) {
  for (int i = 0; i < 5; ++i) submit();
  all[1]->fails = true;
  EXPECT_TRUE(all[3]->waits.cancel());
  EXPECT_EQ(all[3]->refused, errc::cancelled);
  EXPECT_EQ(jobs.waiting(), 1u);
  let_go(1);
  EXPECT_EQ(jobs.failed(), 1u);
  EXPECT_EQ(jobs.completed(), 0u);
  EXPECT_EQ(started(), "11101");
  for (const std::size_t id : {0u, 2u, 4u}) let_go(id);
  EXPECT_EQ(jobs.completed(), 3u);
  EXPECT_EQ(jobs.failed(), 1u);
  EXPECT_EQ(jobs.peak(), 3u);
  EXPECT_THROW(all[1]->made->get().wait(), std::runtime_error);
  EXPECT_EQ(all[2]->made->get().wait(), 1);
}

TEST_F(pool_of_three, counts_a_submitter_that_was_granted_and_destroyed_neither_as_a_value_nor_as_a_failure) {
  manual_executor elsewhere;
  auto submits = [](pool& into, one& mine, manual_executor& where) -> test::foreign {
    auto made = co_await into.submit(body(mine)).resume_on(where);
    ADD_FAILURE() << "resumed";
  };
  one never;
  auto granted = submits(jobs, never, elsewhere);
  EXPECT_EQ(jobs.running(), 1u);
  granted.destroy();
  EXPECT_EQ(jobs.running(), 0u);
  EXPECT_EQ(jobs.completed(), 0u);
  EXPECT_EQ(jobs.failed(), 0u);
  EXPECT_FALSE(never.started);
}

TEST_F(pool_of_three, that_is_stopped_refuses_all_that_wait_and_counts_those_that_run) {
  for (int i = 0; i < 6; ++i) submit();
  all[0]->fails = true;
  jobs.request_stop();
  for (const std::size_t id : {3u, 4u, 5u}) EXPECT_EQ(all[id]->refused, errc::closed);
  EXPECT_EQ(jobs.waiting(), 0u);
  EXPECT_EQ(jobs.running(), 3u);
  EXPECT_TRUE(jobs.check_invariants());
  for (const std::size_t id : {0u, 1u, 2u}) let_go(id);
  EXPECT_EQ(started(), "111000");
  EXPECT_EQ(jobs.completed(), 2u);
  EXPECT_EQ(jobs.failed(), 1u);
  EXPECT_TRUE(jobs.join().within(std::chrono::seconds(0)).wait());
}

TEST_F(pool_of_three, that_is_stopped_takes_nothing_though_slots_are_free) {
  jobs.request_stop();
  one nobody;
  auto mine = body(nobody);
  EXPECT_FALSE(jobs.try_submit(std::move(mine)));
  EXPECT_TRUE(mine) << "the task is still its owner's";
  EXPECT_EQ(jobs.submit(std::move(mine)).as_result().wait().error(), errc::closed);
  jobs.resize(10);
  EXPECT_EQ(jobs.submit(body(nobody)).as_result().wait().error(), errc::closed) << "a larger limit opens nothing";
  jobs.request_stop();
  EXPECT_EQ(jobs.running(), 0u);
  EXPECT_EQ(jobs.peak(), 0u);
  EXPECT_FALSE(nobody.started);
}

TEST_F(pool_of_three, that_grows_after_a_stop_starts_nothing) {
  for (int i = 0; i < 4; ++i) submit();
  jobs.request_stop();
  jobs.resize(10);
  executor.run_all();
  EXPECT_EQ(started(), "1110");
  for (const std::size_t id : {0u, 1u, 2u}) let_go(id);
}

TEST_F(pool_of_three, with_a_promise_sets_it_when_the_slot_is_free_and_counted) {
  for (int i = 0; i < 3; ++i) submit();
  one mine;
  promise<int> into;
  auto made = into.get_future();
  bool granted = false;
  auto waits =
      jobs.submit(body(mine), std::move(into)).start([&](const result<>& outcome) { granted = outcome.has_value(); });
  executor.run_all();
  EXPECT_FALSE(granted);
  EXPECT_FALSE(made.ready());
  let_go(0);
  EXPECT_TRUE(granted);
  EXPECT_TRUE(mine.started);
  std::optional<std::size_t> completed_then;
  auto told = made.get().start([&](const result<int>& value) {
    EXPECT_EQ(*value, 1);
    completed_then = jobs.completed();
    EXPECT_EQ(jobs.running(), 2u);
  });
  mine.open.set();
  executor.run_all();
  EXPECT_EQ(completed_then, 2u);
  let_go(1);
  let_go(2);
}

TEST_F(pool_of_three, with_a_promise_counts_its_exception_and_a_stop_closes_the_one_that_waits) {
  submit();
  submit();
  one failing;
  failing.fails = true;
  one never;
  promise<int> first;
  promise<int> second;
  auto fails = first.get_future();
  auto closed = second.get_future();
  jobs.submit(body(failing), std::move(first)).wait();
  std::optional<std::error_code> refused;
  auto waits =
      jobs.submit(body(never), std::move(second)).start([&](const result<>& outcome) { refused = outcome.error(); });
  executor.run_all();
  EXPECT_EQ(jobs.running(), 3u);
  jobs.request_stop();
  EXPECT_EQ(refused, errc::closed);
  ASSERT_TRUE(closed.ready());
  EXPECT_EQ(closed.get().as_result().wait().error(), errc::closed);
  failing.open.set();
  executor.run_all();
  EXPECT_EQ(jobs.failed(), 1u);
  EXPECT_THROW(fails.get().wait(), std::runtime_error);
  EXPECT_FALSE(never.started);
  let_go(0);
  let_go(1);
}

TEST_F(pool_of_three, joins_again_and_again) {
  std::vector<bool> joined;
  for (std::size_t round = 0; round < 3; ++round) {
    submit();
    auto joins = jobs.join().start([&](const result<>& outcome) { joined.push_back(outcome.has_value()); });
    EXPECT_EQ(joined.size(), round);
    let_go(round);
    EXPECT_EQ(joined.size(), round + 1);
  }
  EXPECT_EQ(joined, (std::vector{true, true, true}));
  EXPECT_EQ(jobs.peak(), 1u);
}

TEST_F(pool_of_three, that_is_joined_waits_for_a_submit_that_waits_for_a_slot) {
  for (int i = 0; i < 4; ++i) submit();
  bool joined = false;
  auto joins = jobs.join().start([&](const result<>&) { joined = true; });
  for (const std::size_t id : {0u, 1u, 2u}) let_go(id);
  EXPECT_FALSE(joined);
  EXPECT_EQ(jobs.running(), 1u);
  let_go(3);
  EXPECT_TRUE(joined);
}

}  // namespace
}  // namespace weir
