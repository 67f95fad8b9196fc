// Grants race grants, limits and destructors in selects over several objects: nothing lost, nothing doubled, nobody
// left queued.

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/select.hpp>
#include <weir/semaphore.hpp>
#include <weir/task.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;

constexpr int waits_each = 2'000;

struct arena {
  semaphore a{0};
  semaphore b{0};
  event stop;
  std::atomic<int> from_a{0}, from_b{0}, stopped{0}, timed_out{0};

  template <class Outcome>
  void account(const Outcome& outcome) {
    if (!outcome) {
      ++timed_out;
      return;
    }
    switch (outcome->index()) {
      case 0:
        ++from_a;
        break;
      case 1:
        ++from_b;
        break;
      default:
        ++stopped;
    }
  }
};

task<> selects_as_task(arena& shared, unsigned seed) {
  std::minstd_rand random(seed);
  for (int i = 0; i < waits_each; ++i) {
    const auto longest = std::chrono::microseconds(random() % 40);
    auto outcome = co_await select(shared.a.acquire(), shared.b.acquire(), shared.stop.wait()).within(longest);
    shared.account(outcome);
  }
}

void selects_as_thread(arena& shared, unsigned seed) {
  std::minstd_rand random(seed);
  for (int i = 0; i < waits_each; ++i) {
    const auto longest = std::chrono::microseconds(random() % 40);
    shared.account(select(shared.a.acquire(), shared.b.acquire(), shared.stop.wait()).within(longest).wait());
  }
}

TEST(select_stress, G2_two_releasers_race_selects_with_limits_and_no_permit_is_lost_or_doubled) {
  arena shared;
  std::atomic<bool> finished{false};
  int released_a = 0;
  int released_b = 0;
  {
    thread_pool pool(2);
    std::jthread first([&] {
      for (; !finished; ++released_a) {
        shared.a.release();
        std::this_thread::yield();
      }
    });
    std::jthread second([&] {
      for (; !finished; ++released_b) {
        shared.b.release();
        std::this_thread::yield();
      }
    });
    auto one = spawn(pool, selects_as_task(shared, 1));
    auto two = spawn(pool, selects_as_task(shared, 2));
    {
      std::jthread three([&] { selects_as_thread(shared, 3); });
    }
    one.get().wait();
    two.get().wait();
    finished = true;
  }
  EXPECT_EQ(shared.from_a + shared.from_b + shared.stopped + shared.timed_out, 3 * waits_each);
  EXPECT_EQ(shared.stopped, 0);
  EXPECT_EQ(shared.from_a + static_cast<int>(shared.a.available()), released_a);
  EXPECT_EQ(shared.from_b + static_cast<int>(shared.b.available()), released_b);
  EXPECT_EQ(shared.a.waiting() + shared.b.waiting() + shared.stop.waiting(), 0u);
}

TEST(select_stress, G13_an_object_is_destroyed_while_another_grants) {
  constexpr int rounds = 2'000;
  std::barrier<> together(2);
  std::optional<semaphore> a;
  semaphore b(0);
  std::atomic<int> granted{0}, closed{0};
  std::jthread grants([&] {
    for (int i = 0; i < rounds; ++i) {
      together.arrive_and_wait();
      b.release();
      together.arrive_and_wait();
    }
  });
  for (int i = 0; i < rounds; ++i) {
    a.emplace(0);
    auto waits = select(a->acquire(), b.acquire()).start([&](auto outcome) { ++(outcome ? granted : closed); });
    together.arrive_and_wait();
    a.reset();
    together.arrive_and_wait();
    EXPECT_TRUE(waits.done());
    EXPECT_EQ(b.waiting(), 0u);
    (void)b.try_acquire();  // of a round in which closing came first
  }
  EXPECT_EQ(granted + closed, rounds);
}

}  // namespace
}  // namespace weir
