#pragma once

// What a time limit stores, and what measures it. The wheel behind it is run/timers.hpp.

#include <cstddef>
#include <cstdint>

#include <weir/core/chrono.hpp>

namespace weir::core {

using time_point = std::chrono::steady_clock::time_point;
using duration = std::chrono::steady_clock::duration;

/// Armed at most once at a time. When it expires the source first calls `claim` under its own lock; if
/// that says true the timer has decided something, its owner cannot go away, and `fire` follows under no lock.
struct timer {
  using claim_function = bool (*)(timer&) noexcept;
  using fire_function = void (*)(timer&) noexcept;

  timer* next = nullptr;  // for the source, with what follows
  timer* prev = nullptr;
  std::uint64_t tick = 0;
  std::size_t slot = 0;
  claim_function claim = nullptr;
  fire_function fire = nullptr;
};

class timer_source {
 public:
  virtual time_point now() noexcept = 0;
  virtual void arm(timer& armed, time_point deadline) noexcept = 0;
  /// When it returns, the source does not touch the timer any more, unless its claim said true. False: it
  /// was not armed (any more).
  virtual bool disarm(timer& armed) noexcept = 0;

  timer_source() = default;
  timer_source(const timer_source&) = delete;
  timer_source& operator=(const timer_source&) = delete;

 protected:
  ~timer_source() = default;
};

}  // namespace weir::core
