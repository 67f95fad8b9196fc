#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <ctime>
#include <functional>
#include <latch>
#include <list>
#include <memory>
#include <mutex>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weir/core/executor.hpp>
#include <weir/run/thread_pool.hpp>

#include <support/job.hpp>

namespace {

using namespace std::chrono_literals;
using weir::thread_pool;
using weir::work;
using weir::test::counting;
using weir::test::job;

std::chrono::nanoseconds cpu_time() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

void let_time_pass(std::chrono::milliseconds span) {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, span, [] { return false; });
}

TEST(thread_pool, is_an_executor) {
  static_assert(weir::executor<thread_pool>);
  thread_pool pool(2);
  EXPECT_EQ(pool.size(), 2U);
}

TEST(thread_pool, G12_of_no_threads_is_refused_with_a_message) {
  try {
    thread_pool pool(0);
    FAIL() << "it was not refused";
  } catch (const std::invalid_argument& refused) {
    EXPECT_NE(std::string(refused.what()).find("0 threads"), std::string::npos) << refused.what();
  }
}

TEST(thread_pool, one_that_is_never_used_ends) {
  for (int round = 0; round < 50; ++round) thread_pool pool(3);
}

TEST(thread_pool, G7_runs_what_is_posted_on_a_thread_of_its_own) {
  std::thread::id ran_on;
  job a([&] { ran_on = std::this_thread::get_id(); });
  {
    thread_pool pool(1);
    pool.post(a);
  }
  EXPECT_NE(ran_on, std::thread::id());
  EXPECT_NE(ran_on, std::this_thread::get_id());
}

TEST(thread_pool, its_destructor_runs_what_is_posted) {
  for (int round = 0; round < 20; ++round) {
    std::vector<counting> items(100);
    {
      thread_pool pool(2);
      for (auto& item : items) pool.post(item);
    }
    for (auto& item : items) EXPECT_EQ(item.runs.load(), 1);
  }
}

TEST(thread_pool, its_destructor_also_runs_what_that_posts) {
  struct generation : work {
    generation(thread_pool& target, std::atomic<int>& left)
        : work([](work& posted) noexcept {
            auto& self = static_cast<generation&>(posted);
            if (self.left_.fetch_sub(1) > 1) self.pool_.post(self);
          }),
          pool_(target),
          left_(left) {}
    thread_pool& pool_;
    std::atomic<int>& left_;
  };
  std::atomic<int> left{1'000};
  auto pool = std::make_unique<thread_pool>(2);
  generation first(*pool, left);
  pool->post(first);
  pool.reset();
  EXPECT_EQ(left.load(), 0);
}

TEST(thread_pool, destroyed_by_its_own_work_it_says_so_instead_of_waiting_for_itself) {
  EXPECT_DEATH(
      {
        auto* pool = new thread_pool(2);
        job destroys([&] { delete pool; });
        pool->post(destroys);
        std::latch(1).wait();
      },
      "destroyed by its own work");
}

TEST(thread_pool, of_one_thread_takes_first_what_was_posted_first) {
  std::vector<int> order;
  std::latch gate(1);
  job blocks([&] { gate.wait(); });
  job a([&] { order.push_back(1); });
  job b([&] { order.push_back(2); });
  job c([&] { order.push_back(3); });
  {
    thread_pool pool(1);
    pool.post(blocks);
    pool.post(a);
    pool.post(b);
    pool.post(c);
    gate.count_down();
  }
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

TEST(thread_pool, of_n_threads_runs_n_at_once) {
  std::latch all_here(3);
  auto meets = [&] { all_here.arrive_and_wait(); };
  job a(meets);
  job b(meets);
  job c(meets);
  thread_pool pool(3);
  pool.post(a);
  pool.post(b);
  pool.post(c);
  all_here.wait();
}

TEST(thread_pool, what_a_worker_posts_and_then_waits_for_is_run_by_the_others) {
  std::latch all_here(3);
  std::latch met(1);
  auto meets = [&] { all_here.arrive_and_wait(); };
  job second(meets);
  job third(meets);
  thread_pool* runs = nullptr;
  job first([&] {
    runs->post(second);
    runs->post(third);
    meets();
    met.count_down();
  });
  thread_pool pool(3);
  runs = &pool;
  let_time_pass(20ms);  // until all of them sleep
  pool.post(first);
  met.wait();
}

TEST(thread_pool, what_a_busy_worker_has_posted_is_not_left_lying) {
  for (int round = 0; round < 200; ++round) {
    std::latch ran(8);
    auto counts = [&] { ran.count_down(); };
    std::vector<job<decltype(counts)>> items(8, job(counts));
    thread_pool* runs = nullptr;
    job busy([&] {
      for (auto& each : items) runs->post(each);
      ran.wait();  // this worker comes to none of them
    });
    thread_pool pool(2);
    runs = &pool;
    pool.post(busy);
    ran.wait();
  }
}

TEST(thread_pool, three_that_meet_are_run_by_three_whoever_has_posted_them) {
  struct meeting {
    explicit meeting(thread_pool& where) : pool(where) {}
    void meet() {
      all_here.arrive_and_wait();
      left.count_down();
    }
    thread_pool& pool;
    std::latch all_here{3};
    std::latch left{3};
    job<std::function<void()>> a{[this] { meet(); }}, b{[this] { meet(); }}, c{[this] { meet(); }};
    job<std::function<void()>> first{[this] { pool.post(a), pool.post(b), pool.post(c); }};
  };
  std::list<meeting> all;
  thread_pool pool(3);
  for (int round = 0; round < 2'000; ++round) {
    auto& next = all.emplace_back(pool);
    pool.post(next.first);
    next.left.wait();
  }
}

TEST(thread_pool, one_that_always_has_work_of_its_own_helps_one_that_is_stuck) {
  std::atomic<bool> done = false;
  std::latch freed(1);
  std::latch ended(2);
  thread_pool* runs = nullptr;
  job<std::function<void()>> busy([&] {
    if (done) return ended.count_down();
    runs->post(busy);
  });
  job<std::function<void()>> child([&] {
    done = true;
    freed.count_down();
  });
  job<std::function<void()>> stuck([&] {
    runs->post(child);
    freed.wait();
    ended.count_down();
  });
  thread_pool pool(2);
  runs = &pool;
  pool.post(busy);
  pool.post(stuck);
  ended.wait();
}

TEST(thread_pool, its_destructor_runs_what_was_posted_at_whatever_moment) {
  for (int round = 0; round < 1'000; ++round) {
    counting item;
    {
      thread_pool pool(1);
      const auto moment = std::chrono::steady_clock::now() + std::chrono::microseconds(round % 200);
      while (std::chrono::steady_clock::now() < moment) std::this_thread::yield();
      pool.post(item);
    }
    ASSERT_EQ(item.runs.load(), 1) << "round " << round;
  }
}

TEST(thread_pool, posts_of_many_threads_all_run_once) {
  constexpr std::size_t posters = 4;
  constexpr std::size_t each = 2'000;
  std::vector<std::vector<counting>> items;
  for (std::size_t i = 0; i < posters; ++i) items.emplace_back(each);
  {
    thread_pool pool(3);
    std::vector<std::thread> threads;
    for (auto& mine : items) {
      threads.emplace_back([&] {
        for (auto& item : mine) pool.post(item);
      });
    }
    for (auto& thread : threads) thread.join();
  }
  for (auto& mine : items) {
    EXPECT_TRUE(std::all_of(mine.begin(), mine.end(), [](counting& item) { return item.runs.load() == 1; }));
  }
}

TEST(thread_pool, a_sleeping_worker_is_woken_by_every_single_post) {
  std::binary_semaphore ran(0);
  job a([&] { ran.release(); });
  thread_pool pool(2);
  for (int round = 0; round < 500; ++round) {
    pool.post(a);
    ran.acquire();
  }
}

TEST(thread_pool, what_was_retracted_does_not_run_and_what_runs_cannot_be) {
  std::latch entered(1);
  std::latch gate(1);
  counting retracted;
  counting behind;
  job blocks([&] {
    entered.count_down();
    gate.wait();
  });
  {
    thread_pool pool(1);
    EXPECT_FALSE(pool.retract(retracted));
    pool.post(blocks);
    entered.wait();
    EXPECT_FALSE(pool.retract(blocks));
    pool.post(retracted);
    pool.post(behind);
    EXPECT_TRUE(pool.retract(retracted));
    EXPECT_FALSE(pool.retract(retracted));
    gate.count_down();
  }
  EXPECT_EQ(retracted.runs.load(), 0);
  EXPECT_EQ(behind.runs.load(), 1);
}

TEST(thread_pool, what_is_retracted_while_it_is_being_taken_either_runs_or_was_retracted) {
  thread_pool pool(2);
  for (int round = 0; round < 1'000; ++round) {
    counting item;
    pool.post(item);
    if (pool.retract(item)) {
      EXPECT_EQ(item.runs.load(), 0);
    } else {
      while (item.runs.load() == 0) std::this_thread::yield();
    }
  }
}

TEST(thread_pool, an_idle_one_uses_almost_no_processor_time) {
  std::latch all_ran(4);
  auto arrives = [&] { all_ran.count_down(); };
  std::vector<job<decltype(arrives)>> items(4, job(arrives));
  thread_pool pool(4);
  for (auto& item : items) pool.post(item);
  all_ran.wait();

  const auto before = cpu_time();
  let_time_pass(300ms);
  EXPECT_LT(cpu_time() - before, 75ms);
}

}  // namespace
