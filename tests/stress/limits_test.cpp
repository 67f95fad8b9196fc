// Limits that fire while their wait is still being started: whoever comes last, the wait ends once and leaves nothing
// behind, in no queue and in no timer.

#include <barrier>
#include <chrono>
#include <optional>
#include <stop_token>
#include <thread>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/select.hpp>
#include <weir/semaphore.hpp>
#include <weir/task.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;

constexpr int rounds = 3'000;

/// Each round: `wait(token)` on this thread while another one requests the stop, moves the clock and releases.
template <class Wait>
void race_the_start(Wait wait, semaphore& released, manual_timers& clock) {
  std::barrier<> together(2);
  std::optional<std::stop_source> stop;
  std::jthread other([&] {
    for (int round = 0; round < rounds; ++round) {
      together.arrive_and_wait();
      if (round % 3 == 0) released.release();
      if (round % 2 == 0) clock.advance(2ms);
      stop->request_stop();
      together.arrive_and_wait();
    }
  });
  for (int round = 0; round < rounds; ++round) {
    stop.emplace();
    together.arrive_and_wait();
    wait(stop->get_token());
    together.arrive_and_wait();
    (void)released.try_acquire();
    EXPECT_EQ(released.waiting(), 0u);
  }
}

TEST(limits_stress, G13_a_sleep_is_stopped_while_it_starts) {
  manual_timers clock;
  use_timers by_hand(clock);
  semaphore unused(0, 2 * rounds);
  race_the_start([](std::stop_token token) { (void)sleep_for(1ms).stop_on(token).wait(); }, unused, clock);
}

TEST(limits_stress, G13_a_wait_is_stopped_timed_out_and_granted_while_it_starts) {
  manual_timers clock;
  use_timers by_hand(clock);
  semaphore sem(0);
  race_the_start([&](std::stop_token token) { (void)sem.acquire().within(1ms).stop_on(token).wait(); }, sem, clock);
}

TEST(limits_stress, G13_a_select_over_a_sleep_is_stopped_timed_out_and_granted_while_it_starts) {
  manual_timers clock;
  use_timers by_hand(clock);
  semaphore sem(0);
  event never;
  race_the_start(
      [&](std::stop_token token) {
        (void)select(never.wait(), sleep_for(1ms), sem.acquire()).within(1ms).stop_on(token).wait();
      },
      sem, clock);
  EXPECT_EQ(never.waiting(), 0u);
}

TEST(limits_stress, G13_a_callback_is_stopped_and_cancelled_while_it_starts) {
  manual_timers clock;
  use_timers by_hand(clock);
  semaphore sem(0);
  int ended = 0;
  race_the_start(
      [&](std::stop_token token) {
        event told;
        auto waits = sem.acquire().within(1ms).stop_on(token).start([&](result<>) {
          ++ended;
          told.set();
        });
        waits.cancel();
        told.wait().wait();
      },
      sem, clock);
  EXPECT_EQ(ended, rounds);
}

}  // namespace
}  // namespace weir
