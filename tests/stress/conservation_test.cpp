// G1, G2, G10 under fire: grants race time-outs, stops, tickets and destroyed coroutines, over all kinds of waiters.
// In the end everything that was there is there again, and every wait has ended once.

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <optional>
#include <random>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/mutex.hpp>
#include <weir/semaphore.hpp>
#include <weir/task.hpp>

#include <support/foreign.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;

constexpr int workers = 3;
constexpr int waits_each = 3'000;

/// What all kinds of waiters share.
struct arena {
  semaphore sem{2};
  std::atomic<int> ended{0};
  std::atomic<int> granted{0};
  std::atomic<int> inside{0};

  void account(bool success, std::size_t n) {
    if (success) {
      ++granted;
      EXPECT_LE(inside.fetch_add(static_cast<int>(n)) + static_cast<int>(n), 2);
      inside.fetch_sub(static_cast<int>(n));
      sem.release(n);
    }
    ++ended;
  }
};

task<> waits_as_task(arena& shared, unsigned seed) {
  std::minstd_rand random(seed);
  for (int i = 0; i < waits_each; ++i) {
    const std::size_t n = 1 + random() % 2;
    const auto outcome = co_await shared.sem.acquire(n).within(std::chrono::microseconds(random() % 30));
    shared.account(outcome.has_value(), n);
    if (random() % 8 == 0) co_await yield();
  }
}

void waits_as_thread(arena& shared, unsigned seed) {
  std::minstd_rand random(seed);
  for (int i = 0; i < waits_each; ++i) {
    const std::size_t n = 1 + random() % 2;
    std::stop_source stop;
    auto operation = shared.sem.acquire(n).stop_on(stop.get_token()).within(std::chrono::microseconds(random() % 30));
    if (random() % 16 == 0) stop.request_stop();
    shared.account(std::move(operation).wait().has_value(), n);
  }
}

void waits_as_callbacks(arena& shared, unsigned seed) {
  std::minstd_rand random(seed);
  for (int i = 0; i < waits_each; ++i) {
    const std::size_t n = 1 + random() % 2;
    auto waits =
        shared.sem.acquire(n).start([&shared, n](result<> outcome) { shared.account(outcome.has_value(), n); });
    if (random() % 2 == 0) waits.cancel();
  }
}

TEST(conservation, G2_no_permit_is_lost_or_doubled_whatever_races) {
  arena shared;
  {
    thread_pool pool(2);
    std::vector<future<>> tasks;
    for (unsigned i = 0; i < workers; ++i) tasks.push_back(spawn(pool, waits_as_task(shared, i + 1)));
    std::jthread first([&] { waits_as_thread(shared, 11); });
    std::jthread second([&] { waits_as_callbacks(shared, 12); });
    for (auto& each : tasks) each.get().wait();
  }
  EXPECT_EQ(shared.sem.waiting(), 0u);
  EXPECT_EQ(shared.sem.available(), 2u);
  EXPECT_EQ(shared.ended, (workers + 2) * waits_each);
  EXPECT_GT(shared.granted, 0);
  EXPECT_TRUE(shared.sem.check_invariants());
}

task<> counts_as_task(mutex& m, int& counter, int times) {
  for (int i = 0; i < times; ++i) {
    auto held = co_await m.scoped_lock();
    ++counter;
    if (i % 7 == 0) co_await yield();
    ++counter;
  }
}

test::detached counts_as_foreign(mutex& m, int& counter, event& counted) {
  auto held = co_await m.scoped_lock();
  counter += 2;
  held.unlock();
  counted.set();
}

TEST(conservation, G10_what_is_done_under_a_mutex_is_seen_under_it) {
  constexpr int times = 5'000;
  mutex m;
  int counter = 0;  // not atomic: the mutex is what orders it
  {
    thread_pool pool(2);
    auto first = spawn(pool, counts_as_task(m, counter, times));
    auto second = spawn(pool, counts_as_task(m, counter, times));
    std::jthread thread([&] {
      for (int i = 0; i < times; ++i) {
        auto held = m.scoped_lock().wait();
        counter += 2;
      }
    });
    std::jthread starter([&] {
      for (int i = 0; i < times; ++i) {
        event counted;
        counts_as_foreign(m, counter, counted);
        counted.wait().wait();
      }
    });
    first.get().wait();
    second.get().wait();
  }
  EXPECT_EQ(counter, 4 * 2 * times);
  EXPECT_FALSE(m.locked());
}

test::foreign acquires_on(semaphore& sem, run_loop& loop, bool& reached) {
  co_await sem.acquire().resume_on(loop);
  reached = true;
}

task<> destroys_while_others_release(semaphore& sem, run_loop& loop, std::barrier<>& together, int rounds, int& kept) {
  for (int i = 0; i < rounds; ++i) {
    bool reached = false;
    auto waits = acquires_on(sem, loop, reached);
    together.arrive_and_wait();
    if (i % 3 == 0) co_await yield();
    waits.destroy();  // queued, granted and about to be posted, posted, or done
    if (reached) ++kept;
    together.arrive_and_wait();
  }
  loop.finish();
}

TEST(conservation, G2_a_coroutine_destroyed_on_its_executor_while_another_thread_grants_loses_nothing) {
  constexpr int rounds = 3'000;
  semaphore sem(0);
  run_loop loop;
  std::barrier<> together(2);
  int kept = 0;
  int given_back = 0;
  std::jthread releases([&] {
    for (int i = 0; i < rounds; ++i) {
      together.arrive_and_wait();
      sem.release();
      together.arrive_and_wait();
      if (sem.try_acquire()) ++given_back;
    }
  });
  auto destroys = spawn(loop, destroys_while_others_release(sem, loop, together, rounds, kept));
  loop.run();
  releases.join();
  EXPECT_EQ(sem.waiting(), 0u);
  EXPECT_EQ(static_cast<std::size_t>(kept + given_back) + sem.available(), static_cast<std::size_t>(rounds));
  EXPECT_TRUE(sem.check_invariants());
}

TEST(conservation, G1_an_event_that_is_set_and_reset_without_pause_loses_no_waiter) {
  constexpr int waits = 3'000;
  event ready;
  std::atomic<bool> finished{false};
  std::atomic<int> ended{0};
  std::jthread sets([&] {
    while (!finished) {
      ready.set();
      ready.reset();
      ready.notify_one();
    }
  });
  const auto wait_often = [&] {
    for (int i = 0; i < waits; ++i) {
      (void)ready.wait().within(20us).wait();
      ++ended;
    }
  };
  {
    std::jthread first(wait_often);
    std::jthread second(wait_often);
  }
  finished = true;
  sets.join();
  EXPECT_EQ(ended, 2 * waits);
  EXPECT_EQ(ready.waiting(), 0u);
}

TEST(conservation, G5_a_head_that_leaves_while_permits_come_never_strands_those_behind_it) {
  constexpr int rounds = 3'000;
  std::optional<semaphore> sem;
  std::barrier<> together(3);
  std::optional<ticket> head;
  std::atomic<int> small_granted{0};
  std::jthread cancels([&] {
    for (int i = 0; i < rounds; ++i) {
      together.arrive_and_wait();
      head->cancel();
      together.arrive_and_wait();
    }
  });
  std::jthread releases([&] {
    for (int i = 0; i < rounds; ++i) {
      together.arrive_and_wait();
      sem->release(1);
      together.arrive_and_wait();
    }
  });
  for (int i = 0; i < rounds; ++i) {
    sem.emplace(1);
    head = sem->acquire(2).start([&](result<> outcome) {
      if (outcome) sem->release(2);
    });
    (void)sem->acquire(1).start([&](result<> outcome) {
      if (outcome) {
        ++small_granted;
        sem->release(1);
      }
    });
    together.arrive_and_wait();
    together.arrive_and_wait();
    EXPECT_EQ(sem->available(), 2u);
    EXPECT_EQ(sem->waiting(), 0u);
  }
  EXPECT_EQ(small_granted, rounds);
}

}  // namespace
}  // namespace weir
