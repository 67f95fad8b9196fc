// G15: time limits that come and go on one context over time: each one fires, whatever was armed and disarmed before,
// and none that is gone keeps the context at work. Real time, in milliseconds; nothing has to be quick.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/weir.hpp>

#include <asio/binding.hpp>

namespace weir::test {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr auto long_enough = 30s;  // what has not happened by then never will

/// Runs the context until it has no work. False: it still has some after a long time.
bool runs_out_of_work(asio::io_context& io) {
  io.restart();
  io.run_for(long_enough);
  return io.stopped();
}

/// A wait of its own, which is granted or times out.
class limited_wait {
 public:
  template <class Executor>
  void start(const Executor& where, clock::duration limit) {
    const auto deadline = clock::now() + limit;
    sem_.acquire().within(limit)(asio::bind_executor(where, [this, deadline](net_error error) {
      EXPECT_TRUE(!error || clock::now() >= deadline) << "it fired early";
      outcome_ = error;
    }));
  }
  void grant() { sem_.release(); }

  [[nodiscard]] bool ended() const { return outcome_.has_value(); }
  [[nodiscard]] bool granted() const { return outcome_ && !*outcome_; }
  [[nodiscard]] bool timed_out() const { return outcome_ && std::error_code(*outcome_) == errc::timed_out; }

 private:
  semaphore sem_{0};
  std::optional<net_error> outcome_;
};

enum class granting { when_all_are_armed, at_once, by_the_context };

/// Arms limits in the order given. Those in `granted` are disarmed, unless they have expired; the others expire.
void arm_and_disarm(asio::io_context& io, const std::vector<clock::duration>& limits, unsigned granted, granting when) {
  const auto is_granted = [granted](std::size_t i) { return (granted >> i & 1U) != 0; };
  std::vector<limited_wait> waits(limits.size());
  const auto grant_all = [&] {
    for (std::size_t i = 0; i < limits.size(); ++i) {
      if (is_granted(i)) waits[i].grant();
    }
  };
  for (std::size_t i = 0; i < limits.size(); ++i) {
    waits[i].start(io.get_executor(), limits[i]);
    if (when == granting::at_once && is_granted(i)) waits[i].grant();
  }
  if (when == granting::when_all_are_armed) grant_all();
  if (when == granting::by_the_context) asio::post(io, grant_all);
  ASSERT_TRUE(runs_out_of_work(io));
  for (std::size_t i = 0; i < limits.size(); ++i) EXPECT_TRUE(is_granted(i) ? waits[i].ended() : waits[i].timed_out());
}

TEST(asio_timers, limits_armed_in_any_order_expire_whichever_others_are_disarmed) {
  asio::io_context io;
  std::vector<clock::duration> limits = {300us, 1ms, 3ms};
  do {
    for (unsigned granted = 0; granted < 8 && !HasFailure(); ++granted) {
      for (const auto when : {granting::when_all_are_armed, granting::at_once, granting::by_the_context}) {
        arm_and_disarm(io, limits, granted, when);
      }
    }
  } while (std::next_permutation(limits.begin(), limits.end()));
}

TEST(asio_timers, after_a_wait_that_was_granted_in_time_the_next_later_limit_expires) {
  asio::io_context io;
  for (int round = 0; round < 20; ++round) {
    limited_wait first;
    limited_wait second;
    first.start(io.get_executor(), 1ms);
    io.restart();
    io.poll();
    first.grant();
    io.poll();
    EXPECT_TRUE(first.ended());
    second.start(io.get_executor(), 2ms);
    ASSERT_TRUE(runs_out_of_work(io));
    EXPECT_TRUE(second.timed_out());
  }
}

TEST(asio_timers, after_the_earliest_was_disarmed_the_later_one_expires) {
  asio::io_context io;
  for (int round = 0; round < 20; ++round) {
    limited_wait early;
    limited_wait late;
    late.start(io.get_executor(), 2ms);
    early.start(io.get_executor(), 1ms);
    asio::post(io, [&] { early.grant(); });
    ASSERT_TRUE(runs_out_of_work(io));
    EXPECT_TRUE(late.timed_out());
  }
}

TEST(asio_timers, once_everything_was_disarmed_the_context_is_out_of_work_and_the_next_limit_expires) {
  asio::io_context io;
  for (int round = 0; round < 20; ++round) {
    std::array<limited_wait, 3> waits;
    for (auto& each : waits) each.start(io.get_executor(), 1h);
    for (std::size_t i = 0; i < waits.size(); ++i) waits[(i + static_cast<std::size_t>(round)) % 3].grant();
    ASSERT_TRUE(runs_out_of_work(io)) << "a limit that is gone keeps the context at work";
    for (const auto& each : waits) EXPECT_TRUE(each.granted());
    limited_wait next;
    next.start(io.get_executor(), 1ms);
    ASSERT_TRUE(runs_out_of_work(io));
    EXPECT_TRUE(next.timed_out());
  }
}

TEST(asio_timers, a_limit_that_has_expired_leaves_nothing_that_keeps_the_context_at_work_or_holds_up_the_next) {
  asio::io_context io;
  for (int round = 0; round < 20; ++round) {
    limited_wait short_one;
    limited_wait long_one;
    long_one.start(io.get_executor(), 1h);
    short_one.start(io.get_executor(), 200us);
    asio::steady_timer later(io, 1ms);
    later.async_wait([&](net_error) { long_one.grant(); });
    ASSERT_TRUE(runs_out_of_work(io));
    EXPECT_TRUE(short_one.timed_out());
    EXPECT_TRUE(long_one.granted());
  }
}

TEST(asio_timers, a_limit_that_is_armed_by_one_that_expires_expires_too) {
  asio::io_context io;
  constexpr int links = 10;
  int expired = 0;
  const auto waits = [](int& counted) -> task<> {
    event never;
    for (int i = 0; i < links; ++i) {
      if (!co_await never.wait().within(200us)) ++counted;
    }
  };
  const auto made = spawn(io.get_executor(), waits(expired));
  ASSERT_TRUE(runs_out_of_work(io));
  EXPECT_EQ(expired, links);
  EXPECT_TRUE(made.ready());
}

TEST(asio_timers, limits_that_are_granted_and_that_expire_by_turns_all_end) {
  constexpr int turns = 100;
  asio::io_context io;
  semaphore sem(0);
  event never;
  int granted = 0;
  int expired = 0;
  const auto waits = [](semaphore& wanted, event& unset, int& successes, int& failures) -> task<> {
    for (int i = 0; i < turns; ++i) {
      if (co_await wanted.acquire().within(1h)) ++successes;
      if (!co_await unset.wait().within(std::chrono::microseconds(i % 5 * 50))) ++failures;
    }
  };
  const auto grants = [](semaphore& wanted) -> task<> {
    for (int i = 0; i < turns; ++i) {
      while (wanted.waiting() == 0) co_await sleep_for(20us);
      wanted.release();
    }
  };
  std::ignore = spawn(io.get_executor(), waits(sem, never, granted, expired));
  std::ignore = spawn(io.get_executor(), grants(sem));
  ASSERT_TRUE(runs_out_of_work(io));
  EXPECT_EQ(granted, turns);
  EXPECT_EQ(expired, turns);
}

TEST(asio_timers, sleepers_of_any_length_wake_and_none_early) {
  asio::io_context io;
  int woken = 0;
  const auto sleeps = [](clock::duration span, int& counted) -> task<> {
    const auto until = clock::now() + span;
    co_await sleep_until(until);
    EXPECT_GE(clock::now(), until);
    ++counted;
  };
  for (const int tenths : {30, 1, 100, 65, 66, 2, 64}) {
    std::ignore = spawn(io.get_executor(), sleeps(std::chrono::microseconds(100 * tenths), woken));
  }
  ASSERT_TRUE(runs_out_of_work(io));
  EXPECT_EQ(woken, 7);
}

TEST(asio_timers, limits_on_two_contexts_do_not_disturb_each_other) {
  std::array<asio::io_context, 2> contexts;
  for (int round = 0; round < 10; ++round) {
    std::array<limited_wait, 4> waits;
    for (std::size_t i = 0; i < waits.size(); ++i) {
      waits[i].start(contexts[i % 2].get_executor(), i < 2 ? clock::duration(1h) : clock::duration(2ms));
    }
    waits[0].grant();
    waits[1].grant();
    std::array<bool, 2> ended{};
    {
      const std::jthread first([&] { ended[0] = runs_out_of_work(contexts[0]); });
      const std::jthread second([&] { ended[1] = runs_out_of_work(contexts[1]); });
    }
    ASSERT_TRUE(ended[0] && ended[1]);
    EXPECT_TRUE(waits[0].granted() && waits[1].granted());
    EXPECT_TRUE(waits[2].timed_out() && waits[3].timed_out());
  }
}

TEST(asio_timers, the_limits_of_a_context_that_has_gone_do_not_disturb_the_next) {
  for (int round = 0; round < 10; ++round) {
    semaphore sem(0);
    {
      asio::io_context gone;
      sem.acquire().within(1ms)(asio::bind_executor(gone, [](net_error) { ADD_FAILURE() << "called"; }));
      gone.poll();
    }
    EXPECT_EQ(sem.waiting(), 0U);
    asio::io_context io;
    limited_wait wait;
    wait.start(io.get_executor(), 2ms);
    ASSERT_TRUE(runs_out_of_work(io));
    EXPECT_TRUE(wait.timed_out());
  }
}

TEST(asio_timers, limits_survive_a_context_that_is_stopped_and_run_again) {
  asio::io_context io;
  limited_wait wait;
  limited_wait later;
  wait.start(io.get_executor(), 1ms);
  asio::post(io, [&] { io.stop(); });
  io.run();
  later.start(io.get_executor(), 2ms);
  ASSERT_TRUE(runs_out_of_work(io));
  EXPECT_TRUE(wait.timed_out());
  EXPECT_TRUE(later.timed_out());
}

TEST(asio_timers, a_context_that_is_only_polled_fires_its_limits) {
  asio::io_context io;
  limited_wait wait;
  wait.start(io.get_executor(), 1ms);
  const auto begin = clock::now();
  while (!wait.timed_out() && clock::now() - begin < long_enough) io.poll();
  EXPECT_TRUE(wait.timed_out());
}

/// A thread that runs a context, which has something to wait for all the time.
class sleeping_context {
 public:
  ~sleeping_context() { working_.reset(); }
  asio::io_context& io() { return io_; }

  /// What a wait with this limit ends with, started by the calling thread. Nothing: it does not end.
  std::optional<std::error_code> wait_within(clock::duration limit) {
    const auto ended = std::make_shared<std::promise<std::error_code>>();
    auto outcome = ended->get_future();
    semaphore never(0);
    never.acquire().within(limit)(asio::bind_executor(io_, [ended](net_error error) { ended->set_value(error); }));
    if (outcome.wait_for(long_enough) == std::future_status::ready) return outcome.get();
    return std::nullopt;
  }

 private:
  asio::io_context io_;
  asio::executor_work_guard<asio::io_context::executor_type> working_ = asio::make_work_guard(io_);
  std::jthread thread_{[this] { io_.run(); }};
};

TEST(asio_timers, a_limit_that_another_thread_arms_while_the_context_sleeps_expires) {
  sleeping_context context;
  for (int round = 0; round < 20; ++round) ASSERT_EQ(context.wait_within(500us), errc::timed_out);
}

TEST(asio_timers, a_limit_that_another_thread_arms_while_the_context_sleeps_for_a_later_one_expires) {
  std::atomic<bool> granted{false};
  sleeping_context context;
  semaphore sem(0);
  sem.acquire().within(1h)(asio::bind_executor(context.io(), [&](net_error error) { granted = !error; }));
  for (int round = 0; round < 20; ++round) ASSERT_EQ(context.wait_within(500us), errc::timed_out);
  sem.release();
  ASSERT_EQ(context.wait_within(500us), errc::timed_out);
  EXPECT_TRUE(granted);
}

TEST(asio_timers, limits_that_other_threads_disarm_leave_those_armed_that_expire) {
  sleeping_context context;
  for (int round = 0; round < 20 && !HasFailure(); ++round) {
    semaphore sem(0);
    std::promise<void> ended;
    sem.acquire().within(2ms)(asio::bind_executor(context.io(), [&](net_error) { ended.set_value(); }));
    sem.release();
    EXPECT_EQ(context.wait_within(3ms), errc::timed_out);
    ASSERT_EQ(ended.get_future().wait_for(long_enough), std::future_status::ready);
  }
}

TEST(asio_timers, limits_that_race_their_grants_all_end_once_and_the_last_one_still_expires) {
  constexpr int rounds = 300;
  sleeping_context context;
  std::atomic<int> ended{0};
  {
    semaphore sem(0);
    const auto waits = [](semaphore& wanted, std::atomic<int>& counted) -> task<> {
      for (int i = 0; i < rounds; ++i) {
        std::ignore = co_await wanted.acquire().within(std::chrono::microseconds(i % 70));
        ++counted;
      }
    };
    auto made = spawn(context.io().get_executor(), waits(sem, ended));
    for (int i = 0; i < rounds; ++i) {
      sem.release();
      for (int yields = 0; yields < i % 50; ++yields) std::this_thread::yield();
    }
    ASSERT_TRUE(made.get().within(long_enough).wait());
  }
  EXPECT_EQ(ended, rounds);
  ASSERT_EQ(context.wait_within(1ms), errc::timed_out);
}

TEST(asio_timers, the_limits_of_a_thread_pool_expire_whichever_others_are_disarmed) {
  asio::thread_pool threads(2);
  const auto strand = asio::make_strand(threads);
  std::array<limited_wait, 6> waits;
  asio::post(strand, [&] {
    for (std::size_t i = 0; i < waits.size(); ++i) {
      waits[i].start(strand, i % 2 == 0 ? clock::duration(1h) : clock::duration(std::chrono::milliseconds(i)));
    }
    for (std::size_t i = 0; i < waits.size(); i += 2) waits[i].grant();
  });
  threads.join();
  for (std::size_t i = 0; i < waits.size(); ++i) EXPECT_TRUE(i % 2 == 0 ? waits[i].granted() : waits[i].timed_out());
}

}  // namespace
}  // namespace weir::test
