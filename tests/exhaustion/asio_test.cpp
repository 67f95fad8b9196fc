// When memory runs out in a call with a completion token, or in a spawn on a context: the call throws, or the handler
// gets an error, and nothing is lost.

#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <asio.hpp>

#include <weir/asio.hpp>
#include <weir/weir.hpp>

#include <support/exhaustion.hpp>

namespace weir::test {
namespace {

/// What one call has come to: it has thrown, or its handler was called.
struct called {
  bool threw = false;
  std::optional<std::error_code> error;

  template <class Run, class Call>
  void run(Run with_failure, Call call) {
    try {
      with_failure(call);
    } catch (const std::bad_alloc&) {
      threw = true;
    }
  }
  [[nodiscard]] bool once() const { return threw != error.has_value(); }
  [[nodiscard]] bool got() const { return error == std::error_code(); }
};

TEST(memory_of_tokens, an_operation_that_is_ready_throws_or_completes_and_takes_nothing_if_it_throws) {
  const auto allocations = with_each_allocation_failing([](auto run) {
    asio::io_context io;
    semaphore sem(1);
    called outcome;
    outcome.run(run,
                [&] { sem.acquire()(asio::bind_executor(io, [&](std::error_code error) { outcome.error = error; })); });
    io.run();
    EXPECT_TRUE(outcome.once());
    EXPECT_EQ(sem.available(), outcome.got() ? 0u : 1u);
  });
  EXPECT_GT(allocations, 2u);
}

TEST(memory_of_tokens, an_operation_that_waits_throws_and_is_not_queued_or_completes) {
  const auto allocations = with_each_allocation_failing([](auto run) {
    asio::io_context io;
    semaphore sem(0);
    called outcome;
    outcome.run(run, [&] {
      sem.acquire()(asio::bind_executor(io, [&](std::error_code error) { outcome.error = error; }));
      sem.release();  // a wake-up needs no memory that is not there
    });
    io.run();
    EXPECT_TRUE(outcome.once());
    EXPECT_EQ(sem.waiting(), 0u);
    EXPECT_EQ(sem.available(), 0u);
  });
  EXPECT_GT(allocations, 2u);
}

TEST(memory_of_tokens, a_pop_many_reports_it_and_the_items_keep_their_order) {
  with_each_allocation_failing([](auto run) {
    asio::io_context io;
    queue<int> items;
    for (int i = 0; i < 3; ++i) items.push(i).wait();
    called outcome;
    std::size_t popped = 0;
    outcome.run(run, [&] {
      items.pop_many(2)(asio::bind_executor(io, [&](std::error_code error, const std::vector<int>& taken) {
        outcome.error = error;
        popped = taken.size();
      }));
      io.run();
    });
    EXPECT_TRUE(outcome.once());
    EXPECT_EQ(popped, outcome.got() ? 2u : 0u);
    EXPECT_EQ(items.try_pop(), static_cast<int>(popped));
  });
}

TEST(memory_of_tokens, a_use_future_throws_or_is_ready) {
  with_each_allocation_failing([](auto run) {
    semaphore sem(1);
    std::optional<std::future<void>> made;
    called outcome;
    outcome.run(run, [&] { made = sem.acquire()(asio::use_future); });
    EXPECT_NE(outcome.threw, made.has_value());
    EXPECT_EQ(sem.available(), made ? 0u : 1u);
  });
}

TEST(memory_of_tokens, a_spawn_on_a_context_throws_and_destroys_its_task_or_runs_it) {
  const auto allocations = with_each_allocation_failing([](auto run) {
    asio::io_context io;
    const auto alive = std::make_shared<int>(0);
    const auto body = [](std::shared_ptr<int> kept) -> task<int> { co_return *kept; };
    std::optional<future<int>> made;
    called outcome;
    outcome.run(run, [&] { made = spawn(io, body(alive)); });
    io.run();
    EXPECT_NE(outcome.threw, made.has_value());
    EXPECT_EQ(alive.use_count(), 1);
    EXPECT_TRUE(!made || made->get().wait() == 0);
  });
  EXPECT_GT(allocations, 3u);
}

}  // namespace
}  // namespace weir::test
