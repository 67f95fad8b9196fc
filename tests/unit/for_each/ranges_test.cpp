// Ranges of every kind: without an end, read once, shorter than the limit; and how far they are read after a failure.

#include <cstddef>
#include <iterator>
#include <memory>
#include <ranges>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/for_each.hpp>
#include <weir/map.hpp>
#include <weir/task.hpp>

#include <support/manual_executor.hpp>

namespace weir {
namespace {

using test::manual_executor;

constexpr int too_many = 1'000;

/// Numbers without an end, read once, that count how far they were read. A test that reads on for ever fails.
class endless {
 public:
  explicit endless(int& read) : read_(&read) {}

  class iterator {
   public:
    using value_type = int;
    using difference_type = std::ptrdiff_t;

    explicit iterator(int* read) : read_(read) {}
    iterator(iterator&&) = default;
    iterator& operator=(iterator&&) = default;

    int operator*() const { return at_; }
    iterator& operator++() {
      ++at_;
      *read_ = at_;
      if (at_ > too_many) throw std::length_error("read on for ever");
      return *this;
    }
    void operator++(int) { ++*this; }

   private:
    int* read_;
    int at_ = 0;
  };

  [[nodiscard]] iterator begin() const { return iterator(read_); }
  [[nodiscard]] std::unreachable_sentinel_t end() const { return {}; }

 private:
  int* read_;
};
static_assert(std::ranges::input_range<endless> && !std::ranges::forward_range<endless>);

template <class T>
std::string failure_of(future<T>& ended) {
  try {
    (void)ended.get().as_result().wait().value();
  } catch (const std::exception& thrown) {
    return thrown.what();
  }
  return "nothing was thrown";
}

/// Each task begins inside its submit.
struct at_once {
  void post(work& item) noexcept { item.run(); }
  bool retract(work&) noexcept { return false; }
};

class for_each_of : public testing::TestWithParam<std::size_t> {};

TEST_P(for_each_of, an_endless_range_stops_reading_when_a_task_fails) {
  manual_executor executor;
  int read = 0;
  std::vector<int> started;
  auto fails_at_five = [&](int item) -> task<> {
    started.push_back(item);
    co_await yield();
    if (item == 5) throw std::runtime_error("five");
  };
  auto ends = spawn(executor, for_each(executor, endless(read), GetParam(), fails_at_five));
  executor.run_all();
  ASSERT_TRUE(ends.ready());
  EXPECT_EQ(failure_of(ends), "five");
  EXPECT_GE(started.size(), 6u);
  EXPECT_LE(started.size(), 6u + GetParam()) << "no more are started";
  EXPECT_LE(static_cast<std::size_t>(read), 7u + GetParam()) << "no more are read";
  for (std::size_t i = 0; i < started.size(); ++i) EXPECT_EQ(started[i], static_cast<int>(i));
}

TEST_P(for_each_of, an_endless_range_stops_reading_when_the_function_throws) {
  manual_executor executor;
  int read = 0;
  int started = 0;
  int ended = 0;
  auto runs = [](int& begun, int& done) -> task<> {
    ++begun;
    co_await yield();
    co_await yield();
    ++done;
  };
  auto throws_at_five = [&](int item) -> task<> {
    if (item == 5) throw std::out_of_range("five");
    return runs(started, ended);
  };
  auto ends = spawn(executor, for_each(executor, endless(read), GetParam(), throws_at_five));
  executor.run_all();
  ASSERT_TRUE(ends.ready());
  EXPECT_EQ(failure_of(ends), "five");
  EXPECT_EQ(read, 5);
  EXPECT_EQ(ended, started) << "those that run are waited for";
}

TEST_P(for_each_of, an_endless_range_is_mapped_until_one_fails) {
  manual_executor executor;
  int read = 0;
  auto fails_at_five = [](int item) -> task<int> {
    co_await yield();
    if (item == 5) throw std::runtime_error("five");
    co_return item;
  };
  auto ends = spawn(executor, map(executor, endless(read), GetParam(), fails_at_five));
  executor.run_all();
  ASSERT_TRUE(ends.ready());
  EXPECT_EQ(failure_of(ends), "five");
  EXPECT_LE(static_cast<std::size_t>(read), 7u + GetParam());
}

TEST_P(for_each_of, a_stream_reads_each_item_once) {
  manual_executor executor;
  std::istringstream words("one two three four five");
  std::string all;
  auto adds = [&](std::string word) -> task<> {
    co_await yield();
    all += word + ' ';
  };
  auto ends = spawn(executor, for_each(executor, std::ranges::istream_view<std::string>(words), GetParam(), adds));
  executor.run_all();
  EXPECT_TRUE(ends.ready());
  EXPECT_EQ(all, "one two three four five ");
}

TEST_P(for_each_of, a_stream_is_mapped_in_its_order) {
  manual_executor executor;
  std::istringstream numbers("5 4 3 2 1");
  auto waits_as_long = [](int number) -> task<std::unique_ptr<int>> {
    for (int i = 0; i < number; ++i) co_await yield();
    co_return std::make_unique<int>(number);
  };
  auto ends = spawn(executor, map(executor, std::ranges::istream_view<int>(numbers), GetParam(), waits_as_long));
  executor.run_all();
  ASSERT_TRUE(ends.ready());
  auto made = ends.get().wait();
  ASSERT_EQ(made.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(*made[i], 5 - static_cast<int>(i));
}

TEST_P(for_each_of, a_range_whose_iterator_throws_waits_for_those_that_run) {
  at_once executor;
  event open;
  int ended = 0;
  auto items = std::views::iota(0, 10) | std::views::transform([](int item) {
                 if (item == 2) throw std::domain_error("two");
                 return item;
               });
  auto waits = [&](int) -> task<> {
    co_await open.wait();
    ++ended;
  };
  auto ends = spawn(executor, for_each(executor, items, GetParam(), waits));
  EXPECT_FALSE(ends.ready());
  open.set();
  ASSERT_TRUE(ends.ready());
  EXPECT_EQ(ended, 2);
  EXPECT_EQ(failure_of(ends), "two");
}

INSTANTIATE_TEST_SUITE_P(limits, for_each_of, testing::Values(1, 2, 3, 10));

TEST(for_each_limit, larger_than_the_range_starts_all_at_once) {
  manual_executor executor;
  event open;
  int started = 0;
  int ended = 0;
  auto waits = [&](int) -> task<> {
    ++started;
    co_await open.wait();
    ++ended;
  };
  auto ends = spawn(executor, for_each(executor, std::vector{1, 2, 3}, 100, waits));
  executor.run_all();
  EXPECT_EQ(started, 3);
  EXPECT_FALSE(ends.ready()) << "those that run are waited for";
  open.set();
  executor.run_all();
  EXPECT_EQ(ended, 3);
  EXPECT_TRUE(ends.ready());
}

TEST(for_each_limit, as_large_as_the_range_starts_all_and_one_smaller_all_but_one) {
  for (const std::size_t limit : {2u, 3u}) {
    manual_executor executor;
    event open;
    std::size_t started = 0;
    auto waits = [&](int) -> task<> {
      ++started;
      co_await open.wait();
    };
    auto ends = spawn(executor, for_each(executor, std::vector{1, 2, 3}, limit, waits));
    executor.run_all();
    EXPECT_EQ(started, limit);
    open.set();
    executor.run_all();
    EXPECT_EQ(started, 3u);
    EXPECT_TRUE(ends.ready());
  }
}

TEST(for_each_limit, after_a_failure_a_task_that_was_submitted_but_has_not_begun_does_nothing) {
  manual_executor executor;
  int started = 0;
  auto fails = [&](int) -> task<> {
    ++started;
    throw std::runtime_error("first");
    co_return;
  };
  auto ends = spawn(executor, for_each(executor, std::vector{1, 2, 3}, 3, fails));
  executor.run_all();
  EXPECT_EQ(started, 1) << "all three were posted before the first began";
  EXPECT_EQ(failure_of(ends), "first");
}

task<> fails_after(event& ready) {
  co_await ready.wait();
  throw std::runtime_error("the task");
}

TEST(for_each_failure, is_the_first_of_a_function_and_a_task) {
  at_once here;
  for (const bool function_first : {true, false}) {
    event ready;
    auto fails = [&](int item) -> task<> {
      if (item == 0) return fails_after(ready);
      if (!function_first) ready.set();
      throw std::runtime_error("the function");
    };
    auto ends = spawn(here, for_each(here, std::vector{0, 1, 2}, 3, fails));
    EXPECT_NE(ends.ready(), function_first) << "a task that runs is waited for";
    ready.set();
    ASSERT_TRUE(ends.ready());
    EXPECT_EQ(failure_of(ends), function_first ? "the function" : "the task");
  }
}

TEST(map_of, nothing_gives_nothing) {
  manual_executor executor;
  auto never = [](int) -> task<int> {
    ADD_FAILURE() << "called";
    co_return 0;
  };
  auto ends = spawn(executor, map(executor, std::vector<int>(), 3, never));
  executor.run_all();
  EXPECT_TRUE(ends.get().wait().empty());
}

TEST(map_of, one_that_fails_frees_the_results_of_the_others) {
  manual_executor executor;
  const auto witness = std::make_shared<int>(0);
  auto fails_at_two = [&](int item) -> task<std::shared_ptr<int>> {
    if (item == 2) throw std::runtime_error("two");
    co_return witness;
  };
  auto ends = spawn(executor, map(executor, std::views::iota(0, 4), 1, fails_at_two));
  executor.run_all();
  EXPECT_EQ(failure_of(ends), "two");
  EXPECT_EQ(witness.use_count(), 1);
}

TEST(map_of, a_function_that_throws_ends_with_what_it_has_thrown) {
  manual_executor executor;
  auto refuses = [](int item) -> task<int> {
    if (item == 1) throw std::out_of_range("one");
    return [](int given) -> task<int> { co_return given; }(item);
  };
  auto ends = spawn(executor, map(executor, std::views::iota(0, 3), 2, refuses));
  executor.run_all();
  EXPECT_EQ(failure_of(ends), "one");
  EXPECT_THROW((void)map(executor, std::views::iota(0, 3), 0, refuses), std::invalid_argument);
}

}  // namespace
}  // namespace weir
