#pragma once

// What a time limit stores, and what measures it. The wheel behind it is run/timers.hpp.

#include <cstdint>

#include <weir/core/chrono.hpp>

namespace weir::core {

using time_point = std::chrono::steady_clock::time_point;
using duration = std::chrono::steady_clock::duration;

/// Armed at most once at a time. When it expires the source calls `claim` under its own lock. That says null if it has
/// lost; or the timer has decided something, its owner cannot go away, and what that says is called under no lock.
struct timer {
  using fire_function = void (*)(timer&) noexcept;
  using claim_function = fire_function (*)(timer&) noexcept;

  timer* next = nullptr;  // for the source, with what follows
  timer* prev = nullptr;
  std::uint64_t place = 0;
  claim_function claim = nullptr;
};

class timer_source {
 public:
  virtual time_point now() noexcept = 0;
  virtual void arm(timer& armed, time_point deadline) noexcept = 0;
  /// When it returns, the source does not touch the timer any more, unless its claim has won. False: it
  /// was not armed (any more).
  virtual bool disarm(timer& armed) noexcept = 0;

  timer_source() = default;
  timer_source(const timer_source&) = delete;
  timer_source& operator=(const timer_source&) = delete;

 protected:
  ~timer_source() = default;
};

}  // namespace weir::core
