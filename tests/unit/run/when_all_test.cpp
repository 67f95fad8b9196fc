#include <cstddef>
#include <cstdint>
#include <latch>
#include <memory>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/run/sync_wait.hpp>
#include <weir/run/task.hpp>
#include <weir/run/this_task.hpp>
#include <weir/run/thread_pool.hpp>
#include <weir/run/when_all.hpp>
#include <weir/spawn.hpp>

#include <support/manual_executor.hpp>

namespace {

using weir::sync_wait;
using weir::task;
using weir::when_all;
using weir::test::manual_executor;

using log = std::vector<std::string>;

task<int> number(int value) { co_return value; }

task<> notes(log& written, std::string what) {
  written.push_back(std::move(what));
  co_return;
}

task<int> waits_then(weir::event& gate, int value) {
  co_await gate.wait();
  co_return value;
}

task<std::unique_ptr<int>> boxed(int value) { co_return std::make_unique<int>(value); }

task<int> throws(std::string what) {
  throw std::runtime_error(what);
  co_return 0;
}

task<int> throws_after(weir::event& gate, std::string what) {
  co_await gate.wait();
  throw std::runtime_error(what);
}

task<> ends_after(weir::event& gate, bool& ended) {
  co_await gate.wait();
  ended = true;
}

task<weir::owner_id> who() {
  const auto me = co_await weir::this_task();
  co_return me.owner;
}

template <class T>
std::string thrown_by(task<T> thrower) {
  try {
    sync_wait(std::move(thrower));
  } catch (const std::runtime_error& thrown) {
    return thrown.what();
  }
  return "nothing";
}

template <class T>
std::string thrown_by(weir::future<T>& of) {
  try {
    of.get().wait();
  } catch (const std::runtime_error& thrown) {
    return thrown.what();
  }
  return "nothing";
}

template <class T, class... More>
std::vector<task<T>> tasks(task<T> first, More... more) {
  std::vector<task<T>> all;
  all.push_back(std::move(first));
  (all.push_back(std::move(more)), ...);
  return all;
}

TEST(when_all, gives_the_results_in_the_order_given) {
  const auto got = sync_wait(when_all(number(1), number(2), number(3)));
  EXPECT_EQ(got, std::tuple(1, 2, 3));
}

TEST(when_all, gives_different_types_and_monostate_for_nothing) {
  log written;
  auto got = sync_wait(when_all(boxed(4), notes(written, "ran"), number(5)));
  static_assert(std::is_same_v<decltype(got), std::tuple<std::unique_ptr<int>, std::monostate, int>>);
  EXPECT_EQ(*std::get<0>(got), 4);
  EXPECT_EQ(std::get<2>(got), 5);
  EXPECT_EQ(written, (log{"ran"}));
}

TEST(when_all, of_one_is_that_one) { EXPECT_EQ(sync_wait(when_all(number(6))), std::tuple(6)); }

TEST(when_all, starts_all_in_order_before_any_has_to_end) {
  weir::event gate;
  manual_executor executor;
  auto all = weir::spawn(executor, when_all(waits_then(gate, 1), waits_then(gate, 2), waits_then(gate, 3)));
  executor.run_all();
  EXPECT_EQ(gate.waiting(), 3U);
  EXPECT_FALSE(all.ready());
  gate.set();
  executor.run_all();
  ASSERT_TRUE(all.ready());
  EXPECT_EQ(all.get().wait(), std::tuple(1, 2, 3));
}

TEST(when_all, ends_with_the_last_whichever_that_is) {
  for (std::size_t last = 0; last < 3; ++last) {
    std::vector<weir::event> gates(3);
    manual_executor executor;
    auto all =
        weir::spawn(executor, when_all(waits_then(gates[0], 1), waits_then(gates[1], 2), waits_then(gates[2], 3)));
    executor.run_all();
    for (std::size_t i = 0; i < 3; ++i) {
      if (i != last) gates[i].set();
    }
    executor.run_all();
    EXPECT_FALSE(all.ready());
    gates[last].set();
    executor.run_all();
    ASSERT_TRUE(all.ready());
    EXPECT_EQ(all.get().wait(), std::tuple(1, 2, 3));
  }
}

TEST(when_all, takes_a_vector_of_any_number) {
  std::vector<task<int>> all;
  for (int i = 0; i < 100; ++i) all.push_back(number(i));
  const auto got = sync_wait(when_all(std::move(all)));
  ASSERT_EQ(got.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], i);
}

TEST(when_all, of_a_vector_of_nothing_returning_tasks_runs_them_in_order) {
  log written;
  const auto got = sync_wait(when_all(tasks(notes(written, "a"), notes(written, "b"), notes(written, "c"))));
  EXPECT_EQ(got.size(), 3U);
  EXPECT_EQ(written, (log{"a", "b", "c"}));
}

TEST(when_all, of_a_vector_of_move_only_values_gives_them) {
  const auto got = sync_wait(when_all(tasks(boxed(1), boxed(2))));
  EXPECT_EQ(*got[0], 1);
  EXPECT_EQ(*got[1], 2);
}

TEST(when_all, of_an_empty_vector_gives_an_empty_vector) {
  EXPECT_TRUE(sync_wait(when_all(std::vector<task<int>>())).empty());
  EXPECT_TRUE(sync_wait(when_all(std::vector<task<>>())).empty());
}

TEST(when_all, rethrows_the_exception_of_the_only_one_that_threw) {
  EXPECT_EQ(thrown_by(when_all(number(1), throws("second"), number(3))), "second");
  EXPECT_EQ(thrown_by(when_all(tasks(number(1), throws("second"), number(3)))), "second");
}

TEST(when_all, of_several_exceptions_rethrows_the_first_in_the_order_given) {
  EXPECT_EQ(thrown_by(when_all(number(0), throws("first"), throws("second"))), "first");
}

TEST(when_all, of_several_exceptions_of_a_vector_rethrows_the_first_in_the_order_given) {
  EXPECT_EQ(thrown_by(when_all(tasks(number(0), throws("first"), throws("second")))), "first");
}

TEST(when_all, of_several_exceptions_rethrows_the_first_in_the_order_given_not_in_time) {
  weir::event gate;
  manual_executor executor;
  auto all = weir::spawn(executor, when_all(throws_after(gate, "first"), throws("second")));
  executor.run_all();
  EXPECT_FALSE(all.ready());
  gate.set();
  executor.run_all();
  ASSERT_TRUE(all.ready());
  EXPECT_EQ(thrown_by(all), "first");
}

TEST(when_all, rethrows_only_after_all_have_ended) {
  weir::event gate;
  manual_executor executor;
  bool ended = false;
  auto pack = weir::spawn(executor, when_all(throws("first"), ends_after(gate, ended)));
  auto vector = weir::spawn(executor, when_all(tasks(throws("first"), waits_then(gate, 2))));
  executor.run_all();
  EXPECT_FALSE(pack.ready());
  EXPECT_FALSE(vector.ready());
  gate.set();
  executor.run_all();
  EXPECT_TRUE(ended);
  ASSERT_TRUE(pack.ready());
  ASSERT_TRUE(vector.ready());
  EXPECT_EQ(thrown_by(pack), "first");
  EXPECT_EQ(thrown_by(vector), "first");
}

task<std::set<std::uint64_t>> owners_of_a_family() {
  const auto me = co_await weir::this_task();
  auto pack = co_await when_all(who(), who());
  auto vector = co_await when_all(tasks(who(), who()));
  std::set<std::uint64_t> all = {me.owner.value(), std::get<0>(pack).value(), std::get<1>(pack).value()};
  for (const auto owner : vector) all.insert(owner.value());
  co_return all;
}

TEST(when_all, gives_each_child_an_owner_of_its_own) {
  const auto owners = sync_wait(owners_of_a_family());
  EXPECT_EQ(owners.size(), 5U);
  EXPECT_EQ(owners.count(0), 0U);
}

task<bool> sees_the_stop() {
  const auto me = co_await weir::this_task();
  co_return me.stop.stop_requested();
}

TEST(when_all, its_children_have_the_stop_token_of_who_awaits_it) {
  manual_executor executor;
  std::stop_source stop;
  stop.request_stop();
  auto all = weir::spawn(executor, when_all(sees_the_stop(), sees_the_stop()), stop.get_token());
  executor.run_all();
  EXPECT_EQ(all.get().wait(), std::tuple(true, true));
}

task<std::thread::id> where_after(weir::event& gate) {
  co_await gate.wait();
  co_return std::this_thread::get_id();
}

TEST(when_all, its_children_keep_to_the_executor_of_who_awaits_it) {
  weir::event gate;
  std::thread setter([&] { gate.set(); });
  const auto got = sync_wait(when_all(where_after(gate), where_after(gate)));
  setter.join();
  EXPECT_EQ(std::get<0>(got), std::this_thread::get_id());
  EXPECT_EQ(std::get<1>(got), std::this_thread::get_id());
}

task<int> on_the_pool(weir::event& gate, weir::thread_pool& pool, int value) {
  co_await gate.wait().resume_on(pool);
  co_return value;
}

TEST(when_all, its_children_may_end_on_many_threads_at_once) {
  weir::thread_pool pool(3);
  for (int round = 0; round < 100; ++round) {
    weir::event gate;
    std::latch go(1);
    std::thread setter([&] {
      go.wait();
      gate.set();
    });
    std::vector<task<int>> all;
    for (int i = 0; i < 8; ++i) all.push_back(on_the_pool(gate, pool, i));
    go.count_down();
    const auto got = sync_wait(when_all(std::move(all)));
    int sum = 0;
    for (const int each : got) sum += each;
    EXPECT_EQ(sum, 28);
    setter.join();
  }
}

TEST(when_all, one_that_is_never_awaited_starts_nothing) {
  log written;
  {
    auto lazy = when_all(notes(written, "pack"), notes(written, "pack"));
    auto vector = when_all(tasks(notes(written, "vector")));
  }
  EXPECT_TRUE(written.empty());
}

TEST(when_all, of_many_waits_for_all) {
  weir::event gate;
  manual_executor executor;
  std::vector<task<int>> some;
  for (int i = 0; i < 1'000; ++i) some.push_back(waits_then(gate, 1));
  auto all = weir::spawn(executor, when_all(std::move(some)));
  executor.run_all();
  EXPECT_EQ(gate.waiting(), 1'000U);
  gate.set();
  executor.run_all();
  EXPECT_EQ(all.get().wait().size(), 1'000U);
}

}  // namespace
