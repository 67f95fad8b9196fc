#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <weir/core/timer.hpp>
#include <weir/run/timer_wheel.hpp>

namespace {

using namespace std::chrono_literals;
using weir::core::duration;
using weir::core::time_point;
using weir::core::timer;
using weir::core::timer_wheel;

constexpr duration tick = 1'024ns;
constexpr duration year = 24h * 365;
constexpr time_point start(1h + 777ns);

/// All that expire up to then.
std::vector<timer*> expired(timer_wheel& wheel, time_point now) {
  std::vector<timer*> all;
  while (timer* one = wheel.expire(now)) all.push_back(one);
  return all;
}

/// From one nanosecond to ten years, the small as likely as the large.
constexpr std::array spans = {1ns,
                              500ns,
                              1'023ns,
                              1'024ns,
                              1'025ns,
                              63 * tick,
                              64 * tick,
                              65 * tick,
                              4'095 * tick,
                              4'096 * tick,
                              4'097 * tick,
                              duration(1ms),
                              duration(1s),
                              duration(1min),
                              duration(1h),
                              duration(24h),
                              duration(24h * 30),
                              year,
                              10 * year};

TEST(timer_wheel, an_empty_one_has_nothing_to_wait_for) {
  timer_wheel wheel(start);
  EXPECT_TRUE(wheel.empty());
  EXPECT_EQ(wheel.next(), std::nullopt);
  EXPECT_EQ(wheel.expire(start + year), nullptr);
  EXPECT_EQ(wheel.next(), std::nullopt);
}

TEST(timer_wheel, G9_never_fires_early) {
  for (const auto span : spans) {
    timer_wheel wheel(start);
    timer one;
    wheel.arm(one, start + span);
    EXPECT_EQ(wheel.expire(start), nullptr) << span.count();
    EXPECT_EQ(wheel.expire(start + span - 1ns), nullptr) << span.count();
    EXPECT_FALSE(wheel.empty());
  }
}

TEST(timer_wheel, fires_within_one_tick_of_its_deadline) {
  for (const auto span : spans) {
    timer_wheel wheel(start);
    timer one;
    wheel.arm(one, start + span);
    EXPECT_EQ(wheel.expire(start + span + tick), &one) << span.count();
    EXPECT_EQ(wheel.expire(start + span + tick), nullptr) << span.count();
    EXPECT_TRUE(wheel.empty());
  }
}

TEST(timer_wheel, fires_at_its_tick_also_when_the_clock_moves_in_small_steps) {
  timer_wheel wheel(start);
  timer one;
  const auto deadline = start + 5'000 * tick;
  wheel.arm(one, deadline);
  auto now = start;
  while (wheel.expire(now) == nullptr) now += 100ns;
  EXPECT_GE(now, deadline);
  EXPECT_LE(now, deadline + tick + 100ns);
}

TEST(timer_wheel, what_is_overdue_fires_at_once) {
  timer_wheel wheel(start);
  timer past;
  timer now;
  wheel.arm(past, start - 10ms);
  wheel.arm(now, start - 777ns);
  EXPECT_LE(*wheel.next(), start);
  EXPECT_EQ(expired(wheel, start).size(), 2U);
}

TEST(timer_wheel, a_deadline_before_the_clocks_epoch_is_overdue) {
  timer_wheel wheel(start);
  timer one;
  wheel.arm(one, time_point(-5s));
  EXPECT_EQ(wheel.expire(start), &one);
}

TEST(timer_wheel, fires_in_the_order_of_ticks_whatever_the_order_of_arming) {
  std::mt19937 random(11);
  for (int round = 0; round < 50; ++round) {
    std::vector<timer> timers(40);
    std::vector<duration> deadlines;
    for (std::size_t i = 0; i < timers.size(); ++i) deadlines.push_back((1 + static_cast<int>(i * i * i)) * tick);
    std::shuffle(deadlines.begin(), deadlines.end(), random);
    timer_wheel wheel(start);
    for (std::size_t i = 0; i < timers.size(); ++i) wheel.arm(timers[i], start + deadlines[i]);
    const auto order = expired(wheel, start + year);
    ASSERT_EQ(order.size(), timers.size());
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end(), [](timer* a, timer* b) { return a->place < b->place; }));
  }
}

TEST(timer_wheel, many_of_one_tick_all_fire) {
  timer_wheel wheel(start);
  std::array<timer, 100> timers;
  for (auto& each : timers) wheel.arm(each, start + 1s);
  EXPECT_EQ(expired(wheel, start + 1s + tick).size(), timers.size());
  EXPECT_TRUE(wheel.empty());
}

TEST(timer_wheel, one_that_was_disarmed_does_not_fire) {
  for (const auto span : spans) {
    timer_wheel wheel(start);
    timer one;
    timer other;
    wheel.arm(one, start + span);
    wheel.arm(other, start + span);
    EXPECT_TRUE(wheel.disarm(one));
    EXPECT_FALSE(wheel.disarm(one));
    EXPECT_EQ(expired(wheel, start + span + tick), (std::vector<timer*>{&other})) << span.count();
    EXPECT_FALSE(wheel.disarm(other));
    EXPECT_EQ(wheel.next(), std::nullopt);
  }
}

TEST(timer_wheel, disarming_the_first_the_middle_or_the_last_of_a_slot_leaves_the_others) {
  for (std::size_t gone = 0; gone < 3; ++gone) {
    timer_wheel wheel(start);
    std::array<timer, 3> timers;
    for (auto& each : timers) wheel.arm(each, start + 1min);
    EXPECT_TRUE(wheel.disarm(timers[gone]));
    const auto fired = expired(wheel, start + 1min + tick);
    EXPECT_EQ(fired.size(), 2U);
    EXPECT_EQ(std::count(fired.begin(), fired.end(), &timers[gone]), 0);
  }
}

TEST(timer_wheel, disarming_the_last_leaves_it_empty) {
  timer_wheel wheel(start);
  std::array<timer, 3> timers;
  wheel.arm(timers[0], start + 1us);
  wheel.arm(timers[1], start + 1s);
  wheel.arm(timers[2], start + 24h);
  for (auto& each : timers) {
    EXPECT_FALSE(wheel.empty());
    EXPECT_TRUE(wheel.disarm(each));
  }
  EXPECT_TRUE(wheel.empty());
  EXPECT_EQ(wheel.next(), std::nullopt);
}

TEST(timer_wheel, one_that_has_fired_can_be_armed_again) {
  timer_wheel wheel(start);
  timer one;
  auto now = start;
  for (int round = 0; round < 100; ++round) {
    wheel.arm(one, now + 3ms);
    EXPECT_EQ(wheel.expire(now + 2ms), nullptr);
    now += 3ms + tick;
    EXPECT_EQ(wheel.expire(now), &one);
  }
}

TEST(timer_wheel, next_is_never_later_than_the_earliest_and_walking_along_it_reaches_that_in_few_steps) {
  for (const auto span : spans) {
    timer_wheel wheel(start);
    timer one;
    timer later;
    const auto due = start + span + timer_wheel::resolution;
    wheel.arm(later, start + span + 1h);
    wheel.arm(one, start + span);
    timer* fired = nullptr;
    for (int looks = 0; fired == nullptr; ++looks) {
      ASSERT_LE(looks, 10) << span.count();
      const auto next = *wheel.next();
      ASSERT_LE(next, due) << span.count();
      fired = wheel.expire(next);
    }
    EXPECT_EQ(fired, &one);
    EXPECT_EQ(wheel.expire(due), nullptr);
  }
}

TEST(timer_wheel, timers_of_one_tick_expire_in_the_order_in_which_they_were_armed) {
  for (const auto span : spans) {
    timer_wheel wheel(start);
    std::array<timer, 5> timers;
    for (auto& each : timers) wheel.arm(each, start + span);
    for (auto& each : timers) EXPECT_EQ(wheel.expire(start + span + timer_wheel::resolution), &each) << span.count();
  }
}

TEST(timer_wheel, a_deadline_at_the_end_of_time_is_never_due_and_next_does_not_wrap_around) {
  timer_wheel wheel(start);
  timer one;
  wheel.arm(one, time_point::max());
  EXPECT_EQ(wheel.expire(start + 100 * year), nullptr);
  ASSERT_TRUE(wheel.next());
  EXPECT_GT(*wheel.next(), start + 100 * year);
  EXPECT_TRUE(wheel.disarm(one));
}

/// The same, as simple as can be.
class model {
 public:
  void arm(std::size_t name, time_point deadline) { armed_.emplace(deadline, name); }
  bool disarm(std::size_t name) {
    return std::erase_if(armed_, [name](const auto& each) { return each.second == name; }) != 0;
  }
  [[nodiscard]] bool is_armed(std::size_t name) const { return find(name) != armed_.end(); }
  [[nodiscard]] time_point deadline(std::size_t name) const { return find(name)->first; }
  [[nodiscard]] std::optional<time_point> earliest() const {
    return armed_.empty() ? std::nullopt : std::optional(armed_.begin()->first);
  }

 private:
  [[nodiscard]] std::multimap<time_point, std::size_t>::const_iterator find(std::size_t name) const {
    return std::find_if(armed_.begin(), armed_.end(), [name](const auto& each) { return each.second == name; });
  }
  std::multimap<time_point, std::size_t> armed_;
};

class wheel_against_model : public testing::TestWithParam<unsigned> {};

TEST_P(wheel_against_model, agree_over_a_long_random_sequence) {
  std::mt19937_64 random(GetParam());
  const auto span = [&](unsigned most_bits) {
    return duration(static_cast<std::int64_t>(random() >> (63 - random() % most_bits)));
  };

  timer_wheel wheel(start);
  model expected;
  std::array<timer, 48> timers;
  auto now = start;
  for (int step = 0; step < 30'000; ++step) {
    const std::size_t name = random() % timers.size();
    auto& one = timers[name];
    if (random() % 3 == 0) {
      // Mostly short steps; sometimes to the very tick of the next, or to where the wheel wants to be looked at.
      switch (random() % 4) {
        case 0:
          now = std::max(now, expected.earliest().value_or(now));
          break;
        case 1:
          now = std::max(now, wheel.next().value_or(now));
          break;
        default:
          now += span(random() % 64 == 0 ? 50 : 24);
      }
      while (timer* fired = wheel.expire(now)) {
        const auto who = static_cast<std::size_t>(fired - timers.data());
        ASSERT_TRUE(expected.is_armed(who)) << "fired twice or unarmed, step " << step;
        ASSERT_LE(expected.deadline(who), now) << "fired early, step " << step;
        expected.disarm(who);
      }
      if (const auto left = expected.earliest()) {
        ASSERT_GT(*left + tick, now) << "not fired within a tick, step " << step;
        ASSERT_GT(*wheel.next(), now) << "would be looked at for nothing, step " << step;
      }
    } else if (expected.is_armed(name) || random() % 8 == 0) {
      ASSERT_EQ(wheel.disarm(one), expected.disarm(name)) << "step " << step;
    } else {
      const auto deadline = now + span(58) - (random() % 16 == 0 ? 1ms : 0ms);
      wheel.arm(one, deadline);
      expected.arm(name, deadline);
    }
    ASSERT_EQ(wheel.empty(), !expected.earliest()) << "step " << step;
    ASSERT_EQ(wheel.next().has_value(), expected.earliest().has_value()) << "step " << step;
    if (const auto earliest = expected.earliest()) {
      ASSERT_LT(*wheel.next(), std::max(*earliest, now) + tick) << "step " << step;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(seeds, wheel_against_model, testing::Range(1U, 9U));

}  // namespace
