// Durations as a limit takes them: of any type, never shortened, and held within what the clock can count.

#include <chrono>
#include <cstdint>
#include <limits>
#include <random>
#include <ratio>

#include <gtest/gtest.h>

#include <weir/core/timer.hpp>
#include <weir/wait/limits.hpp>

namespace weir::wait {
namespace {

using namespace std::chrono_literals;

template <class Period>
using whole = std::chrono::duration<std::int64_t, Period>;
template <class Period>
using real = std::chrono::duration<double, Period>;

using colour_clock = std::ratio<1, 3579545>;
using cd_samples = std::ratio<1, 44100>;
using coprime = std::ratio<1, 1'000'000'007>;
using large_denominator = std::ratio<1, 1'000'000'000'000'000'003>;

/// What the clock should count, in a wider type.
template <class Period>
std::int64_t exactly(std::int64_t count) {
  using unit = std::ratio_divide<Period, core::duration::period>;
  __extension__ using wide = __int128;
  const wide ticks = (static_cast<wide>(count) * unit::num + unit::den - 1) / unit::den;
  return ticks > core::duration::max().count() ? core::duration::max().count() : static_cast<std::int64_t>(ticks);
}

template <class Period>
class any_period : public testing::Test {};
using periods = testing::Types<std::nano, std::micro, std::milli, std::ratio<1>, std::ratio<3600>, std::ratio<31556952>,
                               std::pico, std::atto, colour_clock, cd_samples, std::ratio<7, 3>, coprime>;
TYPED_TEST_SUITE(any_period, periods);

TYPED_TEST(any_period, a_whole_number_is_rounded_up_exactly_or_saturated) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const auto count = static_cast<std::int64_t>(random() >> (1 + random() % 63));
    EXPECT_EQ(saturated(whole<TypeParam>(count)).count(), exactly<TypeParam>(count)) << count;
  }
  EXPECT_EQ(saturated(whole<TypeParam>::max()).count(), exactly<TypeParam>(std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ(saturated(whole<TypeParam>::min()), core::duration::zero());
}

TYPED_TEST(any_period, a_real_number_is_never_shortened_and_hardly_longer) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100'000; ++i) {
    const auto count = static_cast<std::int64_t>(random() >> (11 + random() % 53));  // a double holds it exactly
    const std::int64_t given = saturated(real<TypeParam>(static_cast<double>(count))).count();
    const std::int64_t exact = exactly<TypeParam>(count);
    EXPECT_GE(given, exact) << count;
    EXPECT_LE(given - exact, exact / 1'000'000'000'000'000 + 2) << count;
  }
  EXPECT_EQ(saturated(real<TypeParam>(std::numeric_limits<double>::infinity())), core::duration::max());
  EXPECT_EQ(saturated(real<TypeParam>(std::numeric_limits<double>::max())), core::duration::max());
  EXPECT_EQ(saturated(real<TypeParam>(std::numeric_limits<double>::quiet_NaN())), core::duration::zero());
  EXPECT_EQ(saturated(real<TypeParam>(-1.0)), core::duration::zero());
  EXPECT_GT(saturated(real<TypeParam>(std::numeric_limits<double>::denorm_min())), core::duration::zero());
}

TEST(limits, the_periods_that_overflowed_do_not) {
  EXPECT_EQ(saturated(whole<colour_clock>(4LL * 3600 * 3579545)), 4h);
  EXPECT_EQ(saturated(whole<cd_samples>(250LL * 24 * 3600 * 44100)), 250 * 24h);
  EXPECT_EQ(saturated(whole<large_denominator>(1)), 1ns);
  EXPECT_GE(saturated(whole<large_denominator>(1'000'000'000'000'000'003)), 1s);
}

TEST(limits, a_limit_just_below_the_end_of_the_clock_is_not_negative) {
  const double largest = 9'223'372'036.854775;  // seconds: just below what the clock can count
  EXPECT_GT(saturated(real<std::ratio<1>>(largest)), 292 * 365 * 24h);
  EXPECT_EQ(saturated(real<std::ratio<1>>(largest * 1.000001)), core::duration::max());
  EXPECT_EQ(saturated(std::chrono::duration<float, std::ratio<1>>(9.3e9F)), core::duration::max());
}

TEST(limits, an_unsigned_count_may_be_larger_than_the_clock_has) {
  using unsigned_ns = std::chrono::duration<std::uint64_t, std::nano>;
  EXPECT_EQ(saturated(unsigned_ns::max()), core::duration::max());
  EXPECT_EQ(saturated(std::chrono::duration<std::uint8_t>(200)), 200s);
}

}  // namespace
}  // namespace weir::wait
