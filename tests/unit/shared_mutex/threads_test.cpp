#include <array>
#include <chrono>
#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/shared_mutex.hpp>
#include <weir/task.hpp>

namespace weir {
namespace {

// Plain data: what a writer wrote all who come after it see (G10), and nobody sees it while it is being written.
struct plain {
  std::array<int, 4> values{};
  void bump() {
    for (int& value : values) ++value;
  }
  [[nodiscard]] bool even() const {
    for (int value : values) {
      if (value != values[0]) return false;
    }
    return true;
  }
};

TEST(shared_mutex_stress, G10_readers_writers_upgrades_and_limits_on_plain_data) {
  constexpr int rounds = 1500;
  shared_mutex m;
  plain data;
  std::array<int, 4> bumped{};
  const auto work = [&](std::size_t self) {
    int& mine = bumped[self];
    for (int i = 0; i < rounds; ++i) {
      switch ((static_cast<std::size_t>(i) + self) % 4) {
        case 0: {
          auto written = m.scoped_lock().wait();
          data.bump();
          ++mine;
          auto read = downgrade(std::move(written));
          EXPECT_TRUE(data.even());
          break;
        }
        case 1: {
          auto written = m.scoped_lock().within(std::chrono::microseconds(i % 30)).wait();
          if (!written) break;
          data.bump();
          ++mine;
          break;
        }
        case 2: {
          auto read = m.scoped_lock_shared().wait();
          EXPECT_TRUE(data.even());
          auto written = upgrade(std::move(read)).within(std::chrono::microseconds(i % 30)).wait();
          EXPECT_NE(read.owns_lock(), written.has_value());
          EXPECT_TRUE(data.even());
          if (!written) break;
          data.bump();
          ++mine;
          break;
        }
        default: {
          auto read = m.scoped_lock_shared().within(std::chrono::microseconds(i % 30)).wait();
          EXPECT_TRUE(!read || data.even());
        }
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t self = 0; self < bumped.size(); ++self) threads.emplace_back(work, self);
  }
  int all = 0;
  for (int mine : bumped) all += mine;
  EXPECT_EQ(data.values[0], all);
  EXPECT_TRUE(data.even());
  EXPECT_EQ(m.waiting(), 0u);
  EXPECT_EQ(m.readers(), 0u);
  EXPECT_FALSE(m.locked());
  EXPECT_TRUE(m.check_invariants());
}

task<> reads_and_writes(shared_mutex& m, plain& data, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    {
      auto written = co_await m.scoped_lock();
      data.bump();
    }
    auto read = co_await m.scoped_lock_shared();
    EXPECT_TRUE(data.even());
  }
}

TEST(shared_mutex_stress, G10_tasks_on_a_pool_of_threads) {
  constexpr int tasks = 8;
  constexpr int rounds = 500;
  shared_mutex m;
  plain data;
  thread_pool threads(4);
  std::vector<future<>> ends;
  for (int i = 0; i < tasks; ++i) ends.push_back(spawn(threads, reads_and_writes(m, data, rounds)));
  for (auto& end : ends) end.get().wait();
  EXPECT_EQ(data.values[0], tasks * rounds);
  EXPECT_TRUE(m.check_invariants());
}

}  // namespace
}  // namespace weir
