#pragma once

// The timer that a time limit stores, and the source that measures it. The source is in run/timers.hpp.

#include <cstdint>

#include <weir/core/chrono.hpp>

namespace weir::core {

using time_point = std::chrono::steady_clock::time_point;
using duration = std::chrono::steady_clock::duration;

/// A timer is armed at most once at a time. When it expires, its source calls `claim` under the source's lock. That
/// returns null if the timer lost: after unlocking, its owner may be gone. Else it returns a function to call after
/// unlocking, until which the owner exists.
struct timer {
  using fire_function = void (*)(timer&) noexcept;
  using claim_function = fire_function (*)(timer&) noexcept;

  // Used by the source.
  timer* next = nullptr;
  timer* prev = nullptr;
  std::uint64_t place = 0;

  claim_function claim = nullptr;
};

class timer_source {
 public:
  virtual time_point now() noexcept = 0;
  virtual void arm(timer& armed, time_point deadline) noexcept = 0;
  /// Disarms the timer: the source does not touch it afterwards, unless `claim` has won. False: it was not armed, or
  /// not any more.
  virtual bool disarm(timer& armed) noexcept = 0;

  timer_source() = default;
  timer_source(const timer_source&) = delete;
  timer_source& operator=(const timer_source&) = delete;

 protected:
  ~timer_source() = default;
};

}  // namespace weir::core
