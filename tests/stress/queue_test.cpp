// 8 producers and 8 consumers of mixed kinds, every wait limited by tens of microseconds, so that limits and hand-overs
// race all the time: each item arrives exactly once, each producer's items in order.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/queue.hpp>
#include <weir/task.hpp>

#include <support/build.hpp>

namespace weir {
namespace {

constexpr std::size_t items_each = test::sanitized || !test::optimized ? 2'500 : 125'000;  // a million in all

constexpr std::size_t producers = 8;

struct item {
  std::size_t producer;
  std::size_t number;
};
using items = queue<std::unique_ptr<item>>;

std::chrono::microseconds some(std::minstd_rand& random) { return std::chrono::microseconds(random() % 50); }

/// Two consumers never have one producer's next item at once: what each has seen of a producer only goes up.
class tally {
 public:
  void account(const item& arrived, std::vector<std::size_t>& last) {
    EXPECT_LT(last[arrived.producer], arrived.number + 1) << "out of order";
    last[arrived.producer] = arrived.number + 1;
    seen_[arrived.producer * items_each + arrived.number].fetch_add(1, std::memory_order_relaxed);
  }
  void check() const {
    for (const auto& times : seen_) ASSERT_EQ(times.load(), 1);
  }

 private:
  std::vector<std::atomic<std::uint8_t>> seen_ = std::vector<std::atomic<std::uint8_t>>(producers * items_each);
};

task<> produces_as_task(items& q, std::size_t producer) {
  std::minstd_rand random(static_cast<unsigned>(producer + 1));
  for (std::size_t i = 0; i < items_each; ++i) {
    auto made = std::make_unique<item>(item{producer, i});
    while (made) (void)co_await q.push_from(made).within(some(random));
  }
}

void produces_as_thread(items& q, std::size_t producer) {
  std::minstd_rand random(static_cast<unsigned>(producer + 1));
  for (std::size_t i = 0; i < items_each; ++i) {
    auto made = std::make_unique<item>(item{producer, i});
    while (made) (void)q.push_from(made).within(some(random)).wait();
  }
}

task<> consumes_as_task(items& q, tally& all, unsigned seed) {
  std::minstd_rand random(seed);
  std::vector<std::size_t> last(producers);
  for (;;) {
    auto next = co_await q.pop().within(some(random));
    if (!next) continue;
    if (!*next) co_return;
    all.account(***next, last);
  }
}

void consumes_as_thread(items& q, tally& all, unsigned seed) {
  std::minstd_rand random(seed);
  std::vector<std::size_t> last(producers);
  for (;;) {
    auto next = q.pop().within(some(random)).wait();
    if (!next) continue;
    if (!*next) return;
    all.account(***next, last);
  }
}

TEST(queue_stress, G2_eight_by_eight_with_limits_that_race_every_hand_over) {
  items q(16);
  tally all;
  {
    thread_pool pool(2);
    std::vector<future<>> producing;
    std::vector<future<>> consuming;
    std::vector<std::jthread> consumer_threads;
    for (unsigned i = 0; i < 7; ++i) consuming.push_back(spawn(pool, consumes_as_task(q, all, i + 100)));
    consumer_threads.emplace_back([&] { consumes_as_thread(q, all, 107); });
    for (std::size_t i = 0; i < producers - 1; ++i) producing.push_back(spawn(pool, produces_as_task(q, i)));
    {
      std::jthread last([&] { produces_as_thread(q, producers - 1); });
    }
    for (auto& each : producing) each.get().wait();
    q.close();
    for (auto& each : consuming) each.get().wait();
  }
  all.check();
  EXPECT_EQ(q.size(), 0u);
  EXPECT_EQ(q.waiting(), 0u);
}

}  // namespace
}  // namespace weir
