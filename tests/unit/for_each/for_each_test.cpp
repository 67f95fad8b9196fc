#include <chrono>
#include <cstddef>
#include <memory>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/for_each.hpp>
#include <weir/map.hpp>
#include <weir/mutex.hpp>
#include <weir/task.hpp>

#include <support/manual_executor.hpp>
#include <support/stopping.hpp>

namespace weir {
namespace {

using test::manual_executor;

TEST(for_each, runs_a_task_for_each_item) {
  thread_pool threads(2);
  std::vector<int> items(100);
  std::iota(items.begin(), items.end(), 1);
  auto doubles = [](int& item) -> task<> {
    item *= 2;
    co_return;
  };
  sync_wait(for_each(threads, items, 7, doubles));
  EXPECT_EQ(std::accumulate(items.begin(), items.end(), 0), 100 * 101);
}

TEST(for_each, never_runs_more_than_the_limit_at_once) {
  manual_executor executor;
  int running = 0;
  int most = 0;
  int ended = 0;
  auto counts = [&](int) -> task<> {
    most = std::max(most, ++running);
    co_await yield();
    co_await yield();
    --running;
    ++ended;
  };
  auto ends = spawn(executor, for_each(executor, std::views::iota(0, 50), 5, counts));
  executor.run_all();
  EXPECT_TRUE(ends.ready());
  EXPECT_EQ(most, 5);
  EXPECT_EQ(ended, 50);
}

TEST(for_each, over_nothing_ends_at_once) {
  manual_executor executor;
  auto never = [](int) -> task<> {
    ADD_FAILURE() << "called";
    co_return;
  };
  sync_wait(for_each(executor, std::vector<int>(), 3, never));
}

TEST(for_each, an_rvalue_range_is_taken_along) {
  manual_executor executor;
  int sum = 0;
  auto adds = [&](std::unique_ptr<int>& item) -> task<> {
    sum += *item;
    co_return;
  };
  std::vector<std::unique_ptr<int>> items;
  items.push_back(std::make_unique<int>(1));
  items.push_back(std::make_unique<int>(2));
  auto all = for_each(executor, std::move(items), 2, adds);
  auto ends = spawn(executor, std::move(all));
  executor.run_all();
  EXPECT_EQ(sum, 3);
}

TEST(for_each, on_an_exception_no_more_are_started_the_running_are_waited_for_and_the_first_is_rethrown) {
  manual_executor executor;
  event open;
  int started = 0;
  int ended = 0;
  auto fails_at_two = [&](int item) -> task<> {
    ++started;
    if (item == 2) throw std::runtime_error("two");
    co_await open.wait();
    ++ended;
    throw std::runtime_error("late");
  };
  auto ends = spawn(executor, for_each(executor, std::views::iota(0, 100), 3, fails_at_two));
  executor.run_all();
  EXPECT_EQ(started, 3);
  EXPECT_FALSE(ends.ready()) << "two still run";
  open.set();
  executor.run_all();
  EXPECT_EQ(started, 3);
  EXPECT_EQ(ended, 2);
  try {
    ends.get().wait();
    FAIL() << "it did not throw";
  } catch (const std::runtime_error& thrown) {
    EXPECT_STREQ(thrown.what(), "two");
  }
}

TEST(for_each, with_a_limit_of_one_nothing_is_started_after_a_failure) {
  manual_executor executor;
  int started = 0;
  auto fails = [&](int) -> task<> {
    ++started;
    throw std::runtime_error("first");
    co_return;
  };
  auto ends = spawn(executor, for_each(executor, std::views::iota(0, 10), 1, fails));
  executor.run_all();
  EXPECT_EQ(started, 1);
  EXPECT_THROW(ends.get().wait(), std::runtime_error);
}

TEST(for_each, a_function_that_throws_instead_of_giving_a_task_counts_as_a_failure) {
  manual_executor executor;
  auto refuses = [](int item) -> task<> {
    if (item == 1) throw std::out_of_range("one");
    return [](int) -> task<> { co_return; }(item);
  };
  auto ends = spawn(executor, for_each(executor, std::views::iota(0, 3), 2, refuses));
  executor.run_all();
  EXPECT_THROW(ends.get().wait(), std::out_of_range);
}

TEST(for_each, its_tasks_find_the_stop_token_of_the_caller_and_an_owner_of_their_own) {
  manual_executor executor;
  mutex m;
  std::stop_source stop;
  int stopped = 0;
  auto waits_for_the_stop = [&](int) -> task<> {
    {
      auto held = co_await m.scoped_lock();
      co_await yield();
    }
    const auto self = co_await this_task();
    event never;
    if ((co_await never.wait().stop_on(self.stop)).error() == errc::cancelled) ++stopped;
  };
  auto ends = spawn(executor, for_each(executor, std::views::iota(0, 4), 4, waits_for_the_stop), stop.get_token());
  executor.run_all();
  EXPECT_EQ(stopped, 0);
  stop.request_stop();
  executor.run_all();
  EXPECT_EQ(stopped, 4);
  EXPECT_TRUE(ends.ready());
}

TEST(for_each, G12_a_limit_of_0_is_refused_where_it_is_made) {
  manual_executor executor;
  auto nothing = [](int) -> task<> { co_return; };
  try {
    (void)for_each(executor, std::views::iota(0, 3), 0, nothing);
    FAIL() << "it did not throw";
  } catch (const std::invalid_argument& thrown) {
    EXPECT_STREQ(thrown.what(), "weir::for_each: a limit of 0 would never run a task");
  }
}

TEST(map, gives_the_results_in_the_order_of_the_range) {
  thread_pool threads(2);
  auto to_text = [](int item) -> task<std::unique_ptr<std::string>> {
    for (int i = 0; i < item % 3; ++i) co_await yield();
    co_return std::make_unique<std::string>(std::to_string(item));
  };
  auto texts = sync_wait(map(threads, std::views::iota(0, 200), 8, to_text));
  ASSERT_EQ(texts.size(), 200u);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(*texts[static_cast<std::size_t>(i)], std::to_string(i));
}

TEST(map, rethrows_the_first_exception) {
  manual_executor executor;
  auto fails_at_three = [](int item) -> task<int> {
    if (item == 3) throw std::runtime_error("three");
    co_return item;
  };
  auto ends = spawn(executor, map(executor, std::views::iota(0, 10), 2, fails_at_three));
  executor.run_all();
  EXPECT_THROW(ends.get().wait(), std::runtime_error);
}

TEST(map, takes_results_that_have_no_default) {
  struct number {
    explicit number(int given) : value(given) {}
    int value;
  };
  manual_executor executor;
  const std::vector<int> items{1, 2, 3};
  auto makes = [](const int& item) -> task<number> { co_return number(item * 10); };
  auto ends = spawn(executor, map(executor, items, 2, makes));
  executor.run_all();
  auto made = ends.get().wait();
  ASSERT_EQ(made.size(), 3u);
  EXPECT_EQ(made[2].value, 30);
}

TEST(for_each, may_end_while_it_is_stopped) {
  inline_executor here;
  event never;
  event let_through;
  std::stop_source stops;
  const std::vector<int> items{0, 1};
  auto item = [&](int which) {
    return which == 0 ? test::waits_until_stopped(let_through)
                      : test::waits_until_stopped_then_sets(never, let_through);
  };
  auto ended = spawn(here, for_each(here, items, 2, item), stops.get_token());
  stops.request_stop();
  EXPECT_TRUE(ended.ready());
}

}  // namespace
}  // namespace weir
