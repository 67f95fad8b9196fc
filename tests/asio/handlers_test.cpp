// To its context each resumption is a handler of its own, as if it had been posted with asio::post.

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <weir/weir.hpp>

#include <asio/binding.hpp>

namespace weir::test {
namespace {

/// Handlers that wait for one release, each bound to the executor.
template <class Executor, class Handler>
void wait_with(semaphore& sem, const Executor& where, int count, Handler handler) {
  for (int i = 0; i < count; ++i) {
    sem.acquire()(asio::bind_executor(where, [=](net_error error) mutable {
      EXPECT_FALSE(error);
      handler();
    }));
  }
}

/// Returns once as many threads as expected are inside at the same time.
class meeting {
 public:
  explicit meeting(int expected) : missing_(expected) {}
  void meet() {
    --missing_;
    while (missing_ > 0) std::this_thread::yield();
  }

 private:
  std::atomic<int> missing_;
};

TEST(handlers, woken_together_run_in_parallel_on_a_context_with_several_threads) {
  asio::thread_pool threads(4);
  semaphore sem(0);
  meeting all_four(4);  // hangs, until the test times out, if they run one after the other
  wait_with(sem, threads.get_executor(), 4, [&] { all_four.meet(); });
  sem.release(4);
  threads.join();
}

TEST(handlers, that_are_tasks_spawned_together_run_in_parallel) {
  asio::thread_pool threads(4);
  meeting all_four(4);
  const auto meets = [](meeting& all) -> task<> {
    all.meet();
    co_return;
  };
  std::vector<future<>> ends;
  for (int i = 0; i < 4; ++i) ends.push_back(spawn(threads.get_executor(), meets(all_four)));
  for (auto& each : ends) each.get().wait();
  threads.join();
}

TEST(handlers, that_are_tasks_woken_together_run_in_parallel) {
  asio::thread_pool threads(2);
  event go;
  meeting both(2);
  const auto meets = [](event& start, meeting& all) -> task<> {
    co_await start.wait();
    all.meet();
  };
  auto one = spawn(threads.get_executor(), meets(go, both));
  auto two = spawn(threads.get_executor(), meets(go, both));
  while (go.waiting() != 2) std::this_thread::yield();
  go.set();
  one.get().wait();
  two.get().wait();
  threads.join();
}

TEST(handlers, that_block_for_one_woken_with_them_do_not_hang_while_a_thread_is_idle) {
  asio::thread_pool threads(2);
  semaphore sem(0);
  event second_ran;
  std::atomic<int> order{0};
  wait_with(sem, threads.get_executor(), 2, [&] {
    if (order++ == 0) {
      second_ran.wait().wait();
    } else {
      second_ran.set();
    }
  });
  sem.release(2);
  threads.join();
  EXPECT_EQ(order, 2);
}

TEST(handlers, run_one_for_each_poll_one) {
  asio::io_context io;
  semaphore sem(0);
  int ran = 0;
  wait_with(sem, io.get_executor(), 5, [&] { ++ran; });
  sem.release(5);
  for (int expected = 1; expected <= 5; ++expected) {
    EXPECT_EQ(io.poll_one(), 1u);
    EXPECT_EQ(ran, expected);
  }
  EXPECT_EQ(io.poll_one(), 0u);
}

TEST(handlers, that_are_tasks_run_one_for_each_poll_one) {
  asio::io_context io;
  int ran = 0;
  const auto counts = [](int& count) -> task<> {
    ++count;
    co_await yield();
    ++count;
  };
  std::ignore = spawn(io.get_executor(), counts(ran));
  std::ignore = spawn(io.get_executor(), counts(ran));
  for (int expected = 1; expected <= 4; ++expected) {
    EXPECT_EQ(io.poll_one(), 1u);
    EXPECT_EQ(ran, expected);
  }
}

TEST(handlers, behind_one_that_stops_the_context_do_not_run_until_it_is_restarted) {
  asio::io_context io;
  semaphore sem(0);
  int ran = 0;
  wait_with(sem, io.get_executor(), 5, [&] {
    if (++ran == 1) io.stop();
  });
  sem.release(5);
  EXPECT_EQ(io.run(), 1u);
  EXPECT_EQ(ran, 1);
  io.restart();
  EXPECT_EQ(io.run(), 4u);
  EXPECT_EQ(ran, 5);
}

TEST(handlers, behind_one_that_polls_run_inside_it) {
  asio::io_context io;
  semaphore sem(0);
  int ran = 0;
  std::size_t nested = 0;
  wait_with(sem, io.get_executor(), 5, [&] {
    if (++ran == 1) nested = io.poll();
  });
  sem.release(5);
  io.run();
  EXPECT_EQ(nested, 4u);
}

TEST(handlers, keep_their_order_among_what_is_posted_to_their_strand) {
  asio::io_context io;
  auto strand = asio::make_strand(io);
  semaphore sem(0);
  std::string order;
  wait_with(sem, strand, 2, [&] { order += 'w'; });
  sem.release();
  asio::post(strand, [&] { order += 'p'; });
  sem.release();
  asio::post(strand, [&] { order += 'p'; });
  io.run();
  EXPECT_EQ(order, "wpwp");
}

TEST(handlers, keep_their_order_among_what_is_posted_to_their_context) {
  asio::io_context io;
  semaphore sem(0);
  std::string order;
  wait_with(sem, io.get_executor(), 2, [&] { order += 'w'; });
  asio::post(io, [&] { order += 'p'; });
  sem.release();
  asio::post(io, [&] { order += 'p'; });
  sem.release();
  io.run();
  EXPECT_EQ(order, "pwpw");
}

TEST(handlers, behind_one_that_throws_run_when_the_context_runs_again) {
  asio::io_context io;
  semaphore sem(0);
  int ran = 0;
  wait_with(sem, io.get_executor(), 3, [&] {
    if (++ran == 1) throw 42;
  });
  sem.release(3);
  EXPECT_THROW(io.run(), int);
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(io.run(), 2u);
}

TEST(handlers, count_as_one_handler_each_for_run) {
  asio::io_context io;
  semaphore sem(0);
  wait_with(sem, io.get_executor(), 100, [] {});
  sem.release(100);
  EXPECT_EQ(io.run(), 100u);
}

}  // namespace
}  // namespace weir::test
