// G15: executors of Asio's run weir's tasks, and tasks await what Asio offers.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <future>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/weir.hpp>

#include <asio/binding.hpp>
#include <support/foreign.hpp>

namespace weir::test {
namespace {

using namespace std::chrono_literals;

task<int> acquires_there(semaphore& sem, asio::io_context& io) {
  EXPECT_TRUE(io.get_executor().running_in_this_thread());
  co_await sem.acquire();
  EXPECT_TRUE(io.get_executor().running_in_this_thread());
  co_return 5;
}

TEST(running, a_task_keeps_to_its_io_context) {
  asio::io_context io;
  semaphore sem(0);
  auto made = spawn(io.get_executor(), acquires_there(sem, io));
  io.poll();
  std::jthread([&] { sem.release(); }).join();
  EXPECT_FALSE(made.ready());
  io.run();
  EXPECT_EQ(made.get().wait(), 5);
}

TEST(running, a_task_counts_as_work_until_it_has_ended_and_no_longer) {
  asio::io_context io;
  semaphore sem(0);
  auto made = spawn(io.get_executor(), acquires_there(sem, io));
  std::jthread releases([&] {
    while (sem.waiting() == 0) std::this_thread::yield();
    sem.release();
  });
  io.run();
  EXPECT_TRUE(made.ready());
  EXPECT_EQ(made.get().wait(), 5);
}

TEST(running, a_task_finds_the_stop_token_that_it_was_spawned_with) {
  asio::io_context io;
  std::stop_source stop;
  auto waits = [](std::stop_source& stopped) -> task<std::error_code> {
    const auto self = co_await this_task();
    event never;
    stopped.request_stop();
    co_return (co_await never.wait().stop_on(self.stop)).error();
  };
  auto made = spawn(io.get_executor(), waits(stop), stop.get_token());
  io.run();
  EXPECT_EQ(made.get().wait(), errc::cancelled);
}

TEST(running, the_tasks_of_a_strand_never_overlap) {
  asio::io_context io(4);
  auto strand = asio::make_strand(io);
  std::atomic<int> inside{0};
  std::atomic<int> overlaps{0};
  semaphore sem(0);
  constexpr int tasks = 8;
  auto enters = [](semaphore& wanted, std::atomic<int>& now, std::atomic<int>& wrong) -> task<> {
    for (int i = 0; i < 200; ++i) {
      co_await wanted.acquire();
      if (++now != 1) ++wrong;
      --now;
      wanted.release();
      co_await yield();
    }
  };
  std::vector<future<>> made;
  for (int i = 0; i < tasks; ++i) made.push_back(spawn(strand, enters(sem, inside, overlaps)));
  sem.release(3);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&] { io.run(); });
  }
  for (auto& each : made) EXPECT_TRUE(each.ready());
  EXPECT_EQ(overlaps, 0);
}

TEST(running, tasks_that_come_and_go_on_many_executors_from_many_threads_all_end_and_leave_no_work) {
  constexpr int each = 300;
  constexpr int strands = 12;
  asio::io_context io;
  std::vector<asio::any_io_executor> executors{io.get_executor()};
  for (int i = 0; i < strands; ++i) executors.emplace_back(asio::make_strand(io));
  std::atomic<int> ended{0};
  auto counts = [](std::atomic<int>& into) -> task<> {
    ++into;
    co_return;
  };
  auto spawns = [&](std::size_t first) {
    for (std::size_t i = first; i < first + each; ++i) {
      spawn(executors[i % executors.size()], counts(ended)).get().wait();  // mostly the only one there
      std::ignore = spawn(executors[i % 2], counts(ended));
    }
  };
  {
    std::vector<std::jthread> threads;
    auto at_work = std::make_optional(asio::make_work_guard(io));
    for (int i = 0; i < 2; ++i) threads.emplace_back([&] { io.run(); });
    {
      const std::jthread one([&] { spawns(0); });
      const std::jthread two([&] { spawns(5); });
    }
    at_work.reset();
  }
  EXPECT_EQ(ended, 4 * each);
}

TEST(running, resume_on_moves_a_task_to_a_strand_and_the_next_wait_brings_it_home) {
  asio::io_context io;
  asio::thread_pool elsewhere(1);
  event e(true);
  auto moves = [](event& ready, asio::io_context& home, asio::thread_pool& away) -> task<> {
    co_await ready.wait().resume_on(away.get_executor());
    EXPECT_TRUE(away.get_executor().running_in_this_thread());
    co_await ready.wait();
    EXPECT_TRUE(home.get_executor().running_in_this_thread());
  };
  auto made = spawn(io.get_executor(), moves(e, io, elsewhere));
  io.run();
  EXPECT_TRUE(made.ready());
}

TEST(running, a_task_awaits_operations_of_asios) {
  asio::io_context io;
  auto waits = [](asio::io_context& where) -> task<std::string> {
    asio::steady_timer timer(where, 1ms);
    co_await timer.async_wait(use_task);
    EXPECT_TRUE(where.get_executor().running_in_this_thread());
    timer.expires_after(1ms);
    co_await timer.async_wait(asio_tokens::deferred);
    asio::ip::tcp::socket closed(where);
    char byte = 0;
    try {
      co_await closed.async_read_some(asio::buffer(&byte, 1), use_task);
    } catch (const net_system_error& thrown) {
      co_return "bad descriptor";
    }
    co_return "read";
  };
  auto made = spawn(io.get_executor(), waits(io));
  io.run();
  EXPECT_EQ(made.get().wait(), "bad descriptor");
}

TEST(running, a_task_on_another_executor_awaits_operations_of_asios_and_comes_home) {
  asio::io_context io;
  auto working = asio::make_work_guard(io);
  std::jthread runs([&] { io.run(); });
  thread_pool threads(1);
  auto waits = [](asio::io_context& where) -> task<bool> {
    const auto home = std::this_thread::get_id();
    asio::steady_timer timer(where, 1ms);
    co_await timer.async_wait(use_task);
    co_return std::this_thread::get_id() == home;
  };
  EXPECT_TRUE(spawn(threads, waits(io)).get().wait());
  working.reset();
}

TEST(running, an_awaited_operation_gives_what_it_gives) {
  asio::io_context io;
  auto echoes = [](asio::io_context& where) -> task<std::string> {
    using asio::ip::tcp;
    tcp::acceptor acceptor(where, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    tcp::socket client(where);
    client.connect(acceptor.local_endpoint());
    tcp::socket server = co_await acceptor.async_accept(use_task);
    asio::write(client, asio::buffer("hello", 5));
    char text[8] = {};
    const std::size_t length = co_await server.async_read_some(asio::buffer(text), use_task);
    co_return std::string(text, length);
  };
  auto made = spawn(io.get_executor(), echoes(io));
  io.run();
  EXPECT_EQ(made.get().wait(), "hello");
}

TEST(running, a_pool_and_for_each_run_over_an_executor_of_asios) {
  asio::io_context io;
  int sum = 0;
  auto works = [](asio::io_context& where, int& into) -> task<> {
    pool jobs(where.get_executor(), 2);
    auto gives = [](int value) -> task<int> {
      co_await yield();
      co_return value;
    };
    auto one = co_await jobs.submit(gives(1));
    auto two = co_await jobs.submit(gives(2));
    auto three = co_await jobs.submit(gives(3));
    co_await jobs.join();
    into += co_await one.get() + co_await two.get() + co_await three.get();
    EXPECT_EQ(jobs.peak(), 2u);
    auto adds = [&into](int item) -> task<> {
      into += item;
      co_return;
    };
    co_await for_each(where.get_executor(), std::views::iota(0, 5), 2, adds);
  };
  auto made = spawn(io.get_executor(), works(io, sum));
  io.run();
  EXPECT_TRUE(made.ready());
  EXPECT_EQ(sum, 16);
}

asio::awaitable<int> waits_and_gives(int value) {
  asio::steady_timer timer(co_await asio::this_coro::executor, 1ms);
  co_await timer.async_wait(asio::use_awaitable);
  if (value < 0) throw std::runtime_error("negative");
  co_return value;
}

TEST(running, a_pool_takes_awaitables_of_asios) {
  asio::io_context io;
  pool jobs(io.get_executor(), 1);
  std::vector<int> got;
  int failed = 0;
  auto submits = [&]() -> asio::awaitable<void> {
    auto one = co_await jobs.async_submit(waits_and_gives(1), asio::use_awaitable);
    auto two = co_await jobs.async_submit(waits_and_gives(-2), asio::use_awaitable);
    got.push_back(co_await one.async_get(asio::use_awaitable));
    try {
      co_await two.async_get(asio::use_awaitable);
    } catch (const std::runtime_error&) {
      ++failed;
    }
    co_await jobs.async_join(asio::use_awaitable);
  };
  asio::co_spawn(io, submits, asio::detached);
  io.run();
  EXPECT_EQ(got, std::vector{1});
  EXPECT_EQ(failed, 1);
  EXPECT_EQ(jobs.peak(), 1u);
}

/// Its moves are counted, and one of them throws.
struct fragile {
  fragile() = default;
  fragile(int& count, int last) : moves(&count), breaks_at(last) {}
  fragile(fragile&& from) : moves(from.moves), breaks_at(from.breaks_at) {  // NOLINT: it throws
    if (moves != nullptr && ++*moves == breaks_at) throw std::runtime_error("it broke");
  }

  int* moves = nullptr;
  int breaks_at = 0;
};

TEST(running, a_slot_is_free_again_wherever_asio_breaks_what_an_awaitable_returns) {
  constexpr int enough = 12;
  for (int breaks_at = 1; breaks_at < enough; ++breaks_at) {
    asio::io_context io;
    pool jobs(io.get_executor(), 1);
    int moves = 0;
    auto returns = [](int& count, int last) -> asio::awaitable<fragile> { co_return fragile(count, last); };
    std::optional<future<fragile>> made;
    auto takes = [&](net_error, future<fragile> given) { made = std::move(given); };
    jobs.submit(returns(moves, breaks_at))(asio::bind_executor(io, takes));
    try {
      io.poll();
    } catch (const std::runtime_error&) {
      io.poll();
    }
    EXPECT_EQ(jobs.running(), 0u) << "broken at move " << breaks_at;
    EXPECT_TRUE(made && made->ready());
    EXPECT_TRUE(jobs.join().within(0s).wait());
  }
}

TEST(running, an_awaitable_in_a_pool_over_another_executor_fails_with_a_reason) {
  thread_pool threads(1);
  pool jobs(threads, 1);
  auto made = jobs.submit(waits_and_gives(1)).wait();
  EXPECT_THROW(made.get().wait(), std::logic_error);
}

/// Counts what is posted.
class counting_executor {
 public:
  counting_executor(asio::io_context& io, int& posts) : io_(&io), posts_(&posts) {}
  asio::io_context& query(asio::execution::context_t) const noexcept { return *io_; }
  static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
    return asio::execution::blocking.never;
  }
  counting_executor require(asio::execution::blocking_t::never_t) const noexcept { return *this; }
  template <class Function>
  void execute(Function&& function) const {
    ++*posts_;
    asio::post(*io_, std::forward<Function>(function));
  }
  friend bool operator==(const counting_executor&, const counting_executor&) noexcept = default;

 private:
  asio::io_context* io_;
  int* posts_;
};

asio::awaitable<void> writes_as_awaitable(semaphore& sem, std::string& order, char name) {
  co_await sem.acquire()(asio::use_awaitable);
  order += name;
}

task<> writes_as_task(semaphore& sem, std::string& order, char name) {
  co_await sem.acquire();
  order += name;
}

TEST(running, G3_awaitables_handlers_and_tasks_on_one_context_go_on_in_the_order_in_which_they_came) {
  asio::io_context io;
  semaphore sem(0);
  std::string order;
  for (char name = 'a'; name != 'i'; ++name) {
    switch (name % 3) {
      case 0:
        asio::co_spawn(io, writes_as_awaitable(sem, order, name), asio::detached);
        break;
      case 1:
        sem.acquire()(asio::bind_executor(io, [&order, name](net_error) { order += name; }));
        break;
      default:
        std::ignore = spawn(io.get_executor(), writes_as_task(sem, order, name));
    }
    io.poll();
  }
  sem.release(8);
  io.run();
  EXPECT_EQ(order, "abcdefgh");
}

TEST(running, each_wake_up_is_one_post) {
  asio::io_context io;
  int posts = 0;
  const counting_executor where(io, posts);
  semaphore sem(0);
  int woken = 0;
  for (int i = 0; i < 100; ++i) sem.acquire()(asio::bind_executor(where, [&](net_error) { ++woken; }));
  EXPECT_EQ(posts, 0);
  sem.release(100);
  io.run();
  EXPECT_EQ(woken, 100);
  EXPECT_EQ(posts, 100);
}

TEST(running, an_awaited_operation_of_asios_that_is_moved_after_it_was_entered_keeps_its_task) {
  asio::io_context io;
  asio::steady_timer timer(io, std::chrono::seconds(0));
  run_loop loop;
  core::context where(loop, owner_id::make(), {});
  bool resumed = false;
  const auto awaits = [](auto waits, bool& seen) -> detached {
    co_await std::move(waits);
    seen = true;
  };
  auto entered = timer.async_wait(use_task);
  entered.enter(where);
  awaits(std::move(entered), resumed);
  io.run();
  EXPECT_FALSE(resumed) << "it was resumed where Asio has completed it";
  loop.finish();
  loop.run();
  EXPECT_TRUE(resumed);
}

TEST(running, a_blocking_wait_inside_a_task_after_an_operation_of_asios_knows_its_owner) {
  asio::io_context io;
  mutex m;
  std::error_code second;
  const auto locks = [](asio::io_context& context, mutex& twice, std::error_code& error) -> task<> {
    const auto held = co_await twice.scoped_lock();
    asio::steady_timer timer(context, std::chrono::seconds(0));
    co_await timer.async_wait(use_task);
    error = twice.lock().as_result().wait().error();
  };
  std::ignore = spawn(io.get_executor(), locks(io, m, second));
  io.run();
  EXPECT_EQ(second, errc::would_deadlock);
}

TEST(running, an_operation_that_a_coroutine_keeps_for_later_goes_quietly_with_its_context) {
  semaphore sem(1);
  event never;
  const auto keeps = [](semaphore& later, event& until) -> asio::awaitable<void> {
    auto kept = later.acquire();
    co_await until.wait()(asio::use_awaitable);
    co_await std::move(kept)(asio::use_awaitable);
  };
  const auto keeps_beside_a_timer = [](semaphore& later) -> asio::awaitable<void> {
    auto kept = later.acquire();
    asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::hours(1));
    co_await timer.async_wait(asio::use_awaitable);
    co_await std::move(kept)(asio::use_awaitable);
  };
  asio::io_context io;
  asio::co_spawn(io, keeps(sem, never), asio::detached);
  asio::co_spawn(io, keeps_beside_a_timer(sem), asio::detached);
  io.poll();
}

}  // namespace
}  // namespace weir::test
