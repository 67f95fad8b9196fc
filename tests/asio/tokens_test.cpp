// G15: every operation takes every completion token.

#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <future>
#include <memory>
#include <memory_resource>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <weir/weir.hpp>

#include <asio/binding.hpp>

namespace weir::test {
namespace {

using namespace std::chrono_literals;

/// Runs a coroutine of Asio's to its end, on this thread.
template <class Body>
void run_awaitable(Body body) {
  asio::io_context io;
  std::exception_ptr thrown;
  asio::co_spawn(io, body(), [&](std::exception_ptr failed) { thrown = std::move(failed); });
  io.run();
  if (thrown) std::rethrow_exception(thrown);
}

TEST(tokens, a_callback_is_called_on_its_executor_and_never_inside_the_initiating_call) {
  asio::io_context io;
  semaphore sem(1);
  int called = 0;
  auto count = [&](net_error error) {
    EXPECT_FALSE(error);
    ++called;
  };
  sem.acquire()(asio::bind_executor(io, count));
  sem.async_acquire(asio::bind_executor(io, count));
  EXPECT_EQ(called, 0) << "the permit was there, and still";
  EXPECT_EQ(io.run_one(), 1u);
  EXPECT_EQ(called, 1);
  sem.release();
  EXPECT_EQ(called, 1) << "called by the releaser";
  io.run();
  EXPECT_EQ(called, 2);
}

TEST(tokens, resume_on_is_the_executor_of_a_callback_that_has_none) {
  asio::io_context io;
  asio::io_context other;
  event e(true);
  bool there = false;
  bool here = false;
  e.wait().resume_on(io.get_executor())([&](net_error) { there = io.get_executor().running_in_this_thread(); });
  e.wait().resume_on(other.get_executor())(
      asio::bind_executor(io, [&](net_error) { here = io.get_executor().running_in_this_thread(); }));
  io.run();
  EXPECT_TRUE(there);
  EXPECT_TRUE(here) << "its own executor comes first";
}

TEST(tokens, resume_on_takes_executors_of_weirs_too) {
  thread_pool threads(1);
  event e(true);
  std::promise<std::thread::id> where;
  e.wait().resume_on(threads)([&](net_error) { where.set_value(std::this_thread::get_id()); });
  EXPECT_NE(where.get_future().get(), std::this_thread::get_id());
}

TEST(tokens, use_awaitable_gives_the_value_or_throws) {
  semaphore sem(2);
  queue<std::unique_ptr<int>> items;
  run_awaitable([&]() -> asio::awaitable<void> {
    co_await sem.async_acquire(2, asio::use_awaitable);
    EXPECT_EQ(sem.available(), 0u);
    auto item = std::make_unique<int>(7);
    co_await items.push(std::move(item))(asio::use_awaitable);
    auto popped = co_await items.async_pop(asio::use_awaitable);
    EXPECT_EQ(**popped, 7);
    sem.close();
    try {
      co_await sem.acquire()(asio::use_awaitable);
      ADD_FAILURE() << "it did not throw";
    } catch (const net_system_error& thrown) {
      EXPECT_EQ(std::error_code(thrown.code()), errc::closed);
    }
  });
}

TEST(tokens, use_future_needs_no_executor_and_no_context) {
  semaphore sem(0);
  auto granted = sem.acquire()(asio::use_future);
  EXPECT_EQ(granted.wait_for(0s), std::future_status::timeout);
  sem.release();
  granted.get();
  queue<int> items;
  std::future<std::optional<int>> popped = items.pop()(asio::use_future);
  items.try_push(3);
  EXPECT_EQ(popped.get(), 3);
  auto late = sem.acquire().within(1ms)(asio::use_future);
  EXPECT_THROW(late.get(), net_system_error);
}

TEST(tokens, detached_needs_no_executor) {
  queue<int> items(1);
  items.push(1)(asio::detached);
  items.async_push(2, asio::detached);
  EXPECT_EQ(items.waiting_push(), 1u);
  EXPECT_EQ(items.try_pop(), 1);
  EXPECT_EQ(items.try_pop(), 2);
}

TEST(tokens, deferred_starts_nothing_until_it_is_called) {
  asio::io_context io;
  semaphore sem(1);
  auto later = sem.acquire()(asio_tokens::deferred);
  io.poll();
  EXPECT_EQ(sem.available(), 1u);
  bool called = false;
  std::move(later)(asio::bind_executor(io, [&](net_error) { called = true; }));
  io.restart();
  io.run();
  EXPECT_TRUE(called);
  EXPECT_EQ(sem.available(), 0u);
}

TEST(tokens, as_tuple_reports_the_error_instead_of_throwing) {
  semaphore sem(0);
  run_awaitable([&]() -> asio::awaitable<void> {
    auto [error] = co_await sem.acquire().within(1ms)(asio_tokens::as_tuple(asio::use_awaitable));
    EXPECT_EQ(std::error_code(error), errc::timed_out);
    EXPECT_EQ(std::error_code(error), std::errc::timed_out);
  });
  EXPECT_EQ(sem.waiting(), 0u);
}

TEST(tokens, limits_select_and_every_synchronizer_take_tokens) {
  run_awaitable([]() -> asio::awaitable<void> {
    mutex m;
    co_await m.async_lock(asio::use_awaitable);
    m.unlock();
    {
      auto held = co_await m.async_scoped_lock(asio::use_awaitable);
      EXPECT_TRUE(m.locked());
    }
    recursive_mutex r;
    co_await r.async_lock(asio::use_awaitable);
    r.unlock();
    shared_mutex s;
    {
      auto reads = co_await s.async_scoped_lock_shared(asio::use_awaitable);
    }
    co_await s.async_lock(asio::use_awaitable);
    s.unlock();
    guarded<int> data(1);
    {
      auto ref = co_await data.async_lock(asio::use_awaitable);
      ++*ref;
    }
    event e(true);
    co_await e.async_wait(asio::use_awaitable);
    auto_reset_event once;
    once.set();
    co_await once.async_wait(asio::use_awaitable);
    latch opened(1);
    co_await opened.async_arrive_and_wait(asio::use_awaitable);
    co_await opened.async_wait(asio::use_awaitable);
    barrier alone(1);
    co_await alone.async_arrive_and_wait(asio::use_awaitable);
    wait_group none;
    co_await none.async_wait(asio::use_awaitable);
    queue<int> q;
    co_await q.async_push(1, asio::use_awaitable);
    co_await q.async_push(2, asio::use_awaitable);
    auto both = co_await q.async_pop_many(5, asio::use_awaitable);
    EXPECT_EQ(both, (std::vector{1, 2}));
    semaphore sem(1);
    auto held = co_await sem.async_scoped_acquire(asio::use_awaitable);
    EXPECT_EQ(held.count(), 1u);
    event never;
    std::stop_source stop;
    auto first = co_await select(never.wait(), e.wait()).within(1s).stop_on(stop.get_token())(asio::use_awaitable);
    EXPECT_EQ(first.index(), 1u);
    auto [tx, rx] = make_oneshot<int>();
    tx.send(4);
    EXPECT_EQ(co_await rx.async_receive(asio::use_awaitable), 4);
  });
}

TEST(tokens, a_value_without_a_default_comes_as_an_optional) {
  struct number {
    explicit number(int given) : value(given) {}
    int value;
  };
  promise<number> made;
  auto gets = made.get_future();
  asio::io_context io;
  int got = 0;
  auto takes = [&](std::exception_ptr failed, std::optional<number> value) {
    EXPECT_FALSE(failed);
    got = value->value;
  };
  gets.get()(asio::bind_executor(io, takes));
  made.set_value(number(9));
  io.run();
  EXPECT_EQ(got, 9);
}

TEST(tokens, future_get_hands_over_the_exception_itself) {
  promise<int> made;
  auto gets = made.get_future();
  made.set_exception(std::make_exception_ptr(std::out_of_range("far")));
  run_awaitable([&]() -> asio::awaitable<void> {
    try {
      co_await gets.async_get(asio::use_awaitable);
      ADD_FAILURE() << "it did not throw";
    } catch (const std::out_of_range& thrown) {
      EXPECT_STREQ(thrown.what(), "far");
    }
  });
  promise<int> dropped;
  auto closes = dropped.get_future();
  {
    const auto gone = std::move(dropped);
  }
  run_awaitable([&]() -> asio::awaitable<void> {
    try {
      co_await closes.async_get(asio::use_awaitable);
      ADD_FAILURE() << "it did not throw";
    } catch (const net_system_error& thrown) {
      EXPECT_EQ(std::error_code(thrown.code()), errc::closed);
    }
  });
}

#if defined(WEIR_TEST_BOOST)
TEST(tokens, an_awaitable_awaits_an_operation_as_it_stands) {
  queue<int> items;
  items.try_push(5);
  semaphore sem(0);
  run_awaitable([&]() -> asio::awaitable<void> {
    const auto item = co_await items.pop();
    EXPECT_EQ(item, 5);
    try {
      co_await sem.acquire().within(1ms);
      ADD_FAILURE() << "it did not throw";
    } catch (const net_system_error& thrown) {
      EXPECT_EQ(std::error_code(thrown.code()), errc::timed_out);
    }
  });
}
#endif

TEST(tokens, a_handler_that_throws_throws_out_of_run_and_the_others_still_run) {
  asio::io_context io;
  event e;
  int called = 0;
  for (int i = 0; i < 3; ++i) {
    e.wait()(asio::bind_executor(io, [&, i](net_error) {
      ++called;
      if (i == 1) throw std::runtime_error("thrown");
    }));
  }
  e.set();
  EXPECT_THROW(io.run(), std::runtime_error);
  EXPECT_EQ(called, 2);
  io.run();
  EXPECT_EQ(called, 3);
}

TEST(tokens, wrappers_combine) {
  asio::io_context io;
  semaphore sem(0);
  asio::cancellation_signal cancels;
  std::tuple<net_error> got;
  auto takes = [&](std::tuple<net_error> outcome) { got = outcome; };
  auto bound = asio::bind_cancellation_slot(cancels.slot(), asio::bind_executor(asio::make_strand(io), takes));
  sem.acquire().within(1h)(asio_tokens::as_tuple(std::move(bound)));
  auto aborted = sem.async_acquire(asio::bind_cancellation_slot(cancels.slot(), asio::use_future));
  cancels.emit(asio::cancellation_type::total);
  sem.release();
  io.run();
  EXPECT_FALSE(std::get<0>(got)) << "its slot was taken over by the second";
  EXPECT_THROW(aborted.get(), net_system_error);
}

#if defined(WEIR_TEST_BOOST)
TEST(tokens, bind_allocator_says_where_the_wait_is_stored) {
  asio::io_context io;
  semaphore sem(0);
  std::array<std::byte, 1024> room{};
  std::pmr::monotonic_buffer_resource memory(room.data(), room.size(), std::pmr::null_memory_resource());
  bool called = false;
  auto calls = asio::bind_executor(io, [&](net_error) { called = true; });
  sem.acquire()(asio::bind_allocator(std::pmr::polymorphic_allocator<std::byte>(&memory), calls));
  sem.release();
  io.run();
  EXPECT_TRUE(called);
}
#endif

TEST(tokens, what_does_not_start_is_told_where_it_is_called) {
  semaphore sem(1, 2);
  EXPECT_THROW(sem.async_acquire(3, asio::detached), std::invalid_argument);
  EXPECT_EQ(sem.available(), 1u);
}

TEST(tokens, handlers_threads_and_tasks_wait_in_one_line) {
  asio::io_context io;
  mutex m;
  ASSERT_TRUE(m.try_lock());
  std::vector<int> order;
  auto locks = [&](int id) {
    m.lock()(asio::bind_executor(io, [&, id](net_error error) {
      EXPECT_FALSE(error);
      order.push_back(id);
      m.unlock();
    }));
  };
  auto locks_as_task = [](mutex& wanted, std::vector<int>& log, int id) -> task<> {
    auto held = co_await wanted.scoped_lock();
    log.push_back(id);
  };
  locks(0);
  std::jthread blocked([&] {
    m.lock().wait();
    order.push_back(1);
    m.unlock();
  });
  while (m.waiting() < 2) std::this_thread::yield();
  auto third = spawn(io.get_executor(), locks_as_task(m, order, 2));
  while (m.waiting() < 3) io.poll();
  locks(3);
  m.unlock();
  io.restart();
  io.run();
  blocked.join();
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3}));
}

}  // namespace
}  // namespace weir::test
