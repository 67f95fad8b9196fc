// Many submitters race through few slots: never one too many, and every result and every exception arrives.

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/pool.hpp>
#include <weir/task.hpp>

#include <support/build.hpp>
#include <support/memory.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;

constexpr int submitters = 4;
constexpr int jobs_in_all = test::sanitized ? 8'000 : 100'000;
constexpr int jobs_each = jobs_in_all / submitters;
constexpr std::size_t slots = 5;

struct census {
  std::atomic<int> inside{0};
  std::atomic<int> too_many{0};
  std::atomic<int> started{0};
};

/// Yields inside, so that others are let in if they could be.
task<int> counted(census& all, int id, int limit) {
  if (++all.inside > limit) ++all.too_many;
  ++all.started;
  co_await yield();
  --all.inside;
  if (id % 10 == 0) throw std::runtime_error(std::to_string(id));
  co_return id;
}

/// What came of a job: its own value, or its own exception.
bool arrived(future<int>& made, int id) {
  const auto outcome = made.get().as_result().wait();
  if (id % 10 != 0) return outcome && *outcome == id;
  try {
    std::rethrow_exception(outcome.exception());
  } catch (const std::runtime_error& thrown) {
    return thrown.what() == std::to_string(id);
  }
}

TEST(pool_stress, G14_four_threads_submit_through_a_limit_of_five) {
  census all;
  std::atomic<int> wrong{0};
  thread_pool threads(2);
  pool jobs(threads, slots);
  {
    std::vector<std::jthread> submitting;
    for (int s = 0; s < submitters; ++s) {
      submitting.emplace_back([&, s] {
        std::vector<std::pair<int, future<int>>> made;
        for (int i = 0; i < jobs_each; ++i) {
          const int id = s * jobs_each + i;
          made.emplace_back(id, jobs.submit(counted(all, id, slots)).wait());
          if (made.size() < 100 && i + 1 < jobs_each) continue;
          for (auto& [each, future] : made) wrong += arrived(future, each) ? 0 : 1;
          made.clear();
        }
      });
    }
  }
  jobs.join().wait();
  EXPECT_EQ(all.too_many, 0);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(all.started, jobs_in_all);
  EXPECT_EQ(jobs.peak(), slots);
  EXPECT_EQ(jobs.failed(), static_cast<std::size_t>(jobs_in_all / 10));
  EXPECT_EQ(jobs.completed() + jobs.failed(), static_cast<std::size_t>(jobs_in_all));
  EXPECT_EQ(jobs.running() + jobs.waiting(), 0u);
}

TEST(pool_stress, G14_submits_with_limits_race_resizing_and_what_timed_out_has_not_run) {
  census all;
  std::atomic<int> accepted{0};
  std::atomic<bool> finished{false};
  thread_pool threads(2);
  pool jobs(threads, slots);
  std::jthread resizes([&] {
    for (std::size_t limit = 1; !finished; limit = limit % slots + 1) {
      jobs.resize(limit);
      std::this_thread::yield();
    }
  });
  {
    std::vector<std::jthread> submitting;
    for (int s = 0; s < submitters; ++s) {
      submitting.emplace_back([&] {
        for (int i = 0; i < jobs_each / 10; ++i) {
          auto made = jobs.submit(counted(all, 1, slots)).within(std::chrono::microseconds(i % 50)).wait();
          if (made) ++accepted;
        }
      });
    }
  }
  finished = true;
  jobs.join().wait();
  EXPECT_EQ(all.too_many, 0);
  EXPECT_EQ(all.started, accepted);
  EXPECT_EQ(jobs.completed(), static_cast<std::size_t>(accepted));
}

task<> trivial() { co_return; }

task<> submits(pool& jobs, int count) {
  for (int i = 0; i < count; ++i) {
    auto detached = co_await jobs.submit(trivial());
  }
  co_await jobs.join();
}

TEST(pool_stress, a_million_trivial_jobs_through_a_limit_of_64_leave_memory_flat) {
  constexpr int count = test::sanitized ? 20'000 : 1'000'000;
  thread_pool threads(2);
  pool jobs(threads, 64);
  spawn(threads, submits(jobs, count / 10)).get().wait();
  const std::size_t before = test::resident_kib();
  spawn(threads, submits(jobs, count)).get().wait();
  const std::size_t after = test::resident_kib();
  EXPECT_EQ(jobs.completed(), static_cast<std::size_t>(count + count / 10));
  EXPECT_LE(jobs.peak(), 64u);
  if (!test::sanitized) {
    EXPECT_LE(after, before + 1024) << "KiB, of jobs that would need " << count / 4 << " if they were kept";
  }
}

}  // namespace
}  // namespace weir
