// Grants race grants, limits and destructors in selects over several objects: nothing lost, nothing doubled, nobody
// left queued.

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/queue.hpp>
#include <weir/select.hpp>
#include <weir/semaphore.hpp>
#include <weir/task.hpp>

#include <support/build.hpp>

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

/// Items of two queues, permits and an end, which nobody sees before he has found everything else taken.
class market {
 public:
  static constexpr std::size_t producers_each = 2;
  static constexpr std::size_t items_each = test::sanitized || !test::optimized ? 2'000 : 20'000;
  static constexpr int releases = items_each;

  auto next(std::minstd_rand& random) {
    const auto longest = std::chrono::microseconds(random() % 50);
    return select(left_.pop(), right_.pop(), permits_.acquire(), ended_.wait()).within(longest);
  }

  /// False: it was the end.
  template <class Outcome>
  bool account(Outcome& outcome) {
    if (!outcome) {
      EXPECT_EQ(outcome.error(), errc::timed_out);
      return true;
    }
    switch (outcome->index()) {
      case 0:
        ++seen_.at(**std::get<0>(*outcome));
        return true;
      case 1:
        ++seen_.at(**std::get<1>(*outcome));
        return true;
      case 2:
        ++acquired_;
        return true;
      default:
        return false;
    }
  }

  /// Returns when all is offered, not when it is taken.
  void offer() {
    std::vector<std::jthread> producing;
    for (std::size_t i = 0; i < 2 * producers_each; ++i) {
      producing.emplace_back([this, i] {
        auto& into = i % 2 == 0 ? left_ : right_;
        for (std::size_t n = 0; n < items_each; ++n)
          into.push(std::make_unique<std::size_t>(i * items_each + n)).wait();
      });
    }
    for (int i = 0; i < releases; ++i) {
      permits_.release();
      std::this_thread::yield();
    }
  }
  void end() { ended_.set(); }

  void check() {
    for (std::size_t i = 0; i < seen_.size(); ++i) ASSERT_EQ(seen_[i], 1) << "item " << i;
    EXPECT_EQ(acquired_ + static_cast<int>(permits_.available()), releases);
    EXPECT_EQ(left_.size() + right_.size(), 0u);
    EXPECT_EQ(left_.waiting() + right_.waiting() + permits_.waiting() + ended_.waiting(), 0u);
    EXPECT_TRUE(left_.check_invariants() && right_.check_invariants() && permits_.check_invariants());
  }

 private:
  queue<std::unique_ptr<std::size_t>> left_{2};
  queue<std::unique_ptr<std::size_t>> right_{2};
  semaphore permits_{0};
  event ended_;
  std::vector<std::atomic<int>> seen_ = std::vector<std::atomic<int>>(2 * producers_each * items_each);
  std::atomic<int> acquired_{0};
};

task<> buys_as_task(market& from, unsigned seed) {
  std::minstd_rand random(seed);
  for (bool goes_on = true; goes_on;) {
    auto outcome = co_await from.next(random);
    goes_on = from.account(outcome);
  }
}

void buys_as_thread(market& from, unsigned seed) {
  std::minstd_rand random(seed);
  for (bool goes_on = true; goes_on;) {
    auto outcome = from.next(random).wait();
    goes_on = from.account(outcome);
  }
}

/// Each callback starts the next.
class buys_as_callback {
 public:
  buys_as_callback(market& from, unsigned seed) : from_(from), random_(seed) { buy(); }
  ~buys_as_callback() { ended_.wait().wait(); }

 private:
  void buy() {
    std::ignore = from_.next(random_).start([this](auto outcome) {
      if (from_.account(outcome)) {
        buy();
      } else {
        ended_.set();
      }
    });
  }

  market& from_;
  std::minstd_rand random_;
  event ended_;
};

TEST(select_stress, G2_every_item_and_permit_goes_to_one_select_of_whatever_kind) {
  market all;
  {
    thread_pool pool(2);
    auto one = spawn(pool, buys_as_task(all, 1));
    auto two = spawn(pool, buys_as_task(all, 2));
    std::jthread three([&] { buys_as_thread(all, 3); });
    std::jthread four([&] { buys_as_thread(all, 4); });
    buys_as_callback five(all, 5);
    buys_as_callback six(all, 6);
    all.offer();
    all.end();
    one.get().wait();
    two.get().wait();
  }
  all.check();
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
