// G15: where an Asio executor is expected, its execution context will do.

#include <array>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weir/weir.hpp>

#include <asio/binding.hpp>

namespace weir::test {
namespace {

template <class Context>
bool runs_here(Context& context) {
  return context.get_executor().running_in_this_thread();
}

template <class Context>
task<bool> is_there_before_and_after(event& awaited, Context& context) {
  const bool before = runs_here(context);
  co_await awaited.wait();
  co_return before&& runs_here(context);
}

template <class Context>
task<int> squared_there(int x, Context& context) {
  co_await yield();
  co_return runs_here(context) ? x* x : 0;
}

task<> waits_for_ever(semaphore& none) { co_await none.acquire(); }

TEST(context, a_task_spawned_on_an_io_context_runs_there_and_counts_as_work) {
  asio::io_context io;
  event go;
  auto made = spawn(io, is_there_before_and_after(go, io));
  std::jthread sets([&] {
    while (go.waiting() == 0) std::this_thread::yield();
    go.set();
  });
  io.run();
  ASSERT_TRUE(made.ready());
  EXPECT_TRUE(made.get().wait());
}

TEST(context, a_task_spawned_on_a_thread_pool_runs_there_with_its_stop_token) {
  asio::thread_pool threads(2);
  std::stop_source stops;
  auto stopped = [](asio::thread_pool& where) -> task<std::error_code> {
    EXPECT_TRUE(runs_here(where));
    const auto self = co_await this_task();
    event never;
    co_return (co_await never.wait().stop_on(self.stop)).error();
  };
  auto made = spawn(threads, stopped(threads), stops.get_token());
  stops.request_stop();
  EXPECT_EQ(made.get().wait(), errc::cancelled);
}

TEST(context, a_task_spawned_on_a_context_is_destroyed_with_it) {
  semaphore none(0);
  std::optional<asio::io_context> io(std::in_place);
  auto made = spawn(*io, waits_for_ever(none));
  io->poll();
  EXPECT_EQ(none.waiting(), 1u);
  io.reset();
  EXPECT_EQ(none.waiting(), 0u);
  EXPECT_EQ(made.get().as_result().wait().error(), errc::closed);
}

TEST(context, a_class_derived_from_io_context_runs_tasks) {
  struct named_context : asio::io_context {};
  named_context io;
  auto made = spawn(io, squared_there(3, io));
  io.run();
  EXPECT_EQ(made.get().wait(), 9);
}

TEST(context, a_pool_on_an_io_context_runs_its_tasks_there) {
  asio::io_context io;
  pool two(io, 2);
  auto made = two.submit(squared_there(3, io)).wait();
  io.run();
  EXPECT_EQ(made.get().wait(), 9);
}

TEST(context, a_pool_on_a_thread_pool_runs_its_tasks_there) {
  asio::thread_pool threads(1);
  pool two(threads, 2);
  auto made = two.submit(squared_there(3, threads)).wait();
  EXPECT_EQ(made.get().wait(), 9);
}

TEST(context, for_each_runs_its_tasks_on_a_context) {
  asio::thread_pool threads(1);
  std::array<int, 3> numbers{1, 2, 3};
  auto square = [&](int& x) -> task<> {
    return
        [](int& each, asio::thread_pool& where) -> task<> { each = co_await squared_there(each, where); }(x, threads);
  };
  sync_wait(for_each(threads, numbers, 2, square));
  EXPECT_EQ(numbers, (std::array<int, 3>{1, 4, 9}));
}

TEST(context, map_runs_its_tasks_on_a_context) {
  asio::thread_pool threads(1);
  auto square = [&](int x) { return squared_there(x, threads); };
  EXPECT_EQ(sync_wait(map(threads, std::vector<int>{1, 2, 3}, 2, square)), (std::vector<int>{1, 4, 9}));
}

TEST(context, resume_on_a_context_moves_a_task_there_for_one_wait) {
  asio::io_context io;
  asio::thread_pool elsewhere(1);
  event ready(true);
  auto moves = [](event& is_set, asio::io_context& home, asio::thread_pool& away) -> task<> {
    co_await is_set.wait().resume_on(away);
    EXPECT_TRUE(runs_here(away));
    co_await is_set.wait();
    EXPECT_TRUE(runs_here(home));
  };
  auto made = spawn(io, moves(ready, io, elsewhere));
  io.run();
  EXPECT_TRUE(made.ready());
}

TEST(context, resume_on_a_context_is_where_a_plain_handler_runs) {
  asio::io_context io;
  semaphore sem(1);
  bool ran_there = false;
  sem.acquire().resume_on(io)([&](net_error) { ran_there = runs_here(io); });
  EXPECT_FALSE(ran_there);
  io.run();
  EXPECT_TRUE(ran_there);
}

TEST(context, resume_on_a_context_is_where_a_callback_runs) {
  asio::io_context io;
  semaphore sem(1);
  bool ran_there = false;
  const auto started = sem.acquire().resume_on(io).start([&](result<> got) { ran_there = got && runs_here(io); });
  EXPECT_FALSE(started.done());
  io.run();
  EXPECT_TRUE(ran_there);
}

}  // namespace
}  // namespace weir::test
