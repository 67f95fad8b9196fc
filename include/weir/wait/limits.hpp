#pragma once

// The limits that a wait can have, each a part that costs nothing where it is not used.

#include <optional>
#include <type_traits>
#include <utility>

#include <weir/core/atomic.hpp>
#include <weir/core/chrono.hpp>
#include <weir/core/claim.hpp>
#include <weir/core/context.hpp>
#include <weir/core/timer.hpp>
#include <weir/run/timers.hpp>

namespace weir::wait {

/// What was said of a wait, as bits of one template parameter: each may be said once.
enum limits : unsigned {
  none = 0,
  within = 1,
  until = 2,
  stop_on = 4,
  as_result = 8,
  timed = within | until,
  limited = timed | stop_on,      // somebody else than the object's lock holder can decide the wait
  reports = limited | as_result,  // the outcome comes as a result
};

/// Any duration as the clock's, rounded up and held within its range. Not a number is no time at all.
template <class Rep, class Period>
constexpr core::duration saturated(std::chrono::duration<Rep, Period> given) noexcept {
  using wide = std::chrono::duration<long double, core::duration::period>;
  const auto wished = std::chrono::duration_cast<wide>(given);
  if (wished >= wide(core::duration::max())) return core::duration::max();
  if (!(wished > wide(core::duration::min()))) return core::duration::min();
  return std::chrono::ceil<core::duration>(given);
}

template <bool Used>
struct time_limit : core::timer {
  core::duration within = core::duration::max();
  core::time_point until = core::time_point::max();
  core::timer_source* source = nullptr;

  void enter(core::context& where) noexcept { source = where.executor.timers(); }

  /// Fixes the deadline. True: it has passed already.
  bool expired() noexcept {
    if (within <= core::duration::zero()) return true;
    if (source == nullptr) source = &timers();
    const auto now = source->now();
    if (within < core::time_point::max() - now && now + within < until) until = now + within;
    return until <= now;
  }

  void arm(claim_function at_expiry) noexcept {
    claim = at_expiry;
    source->arm(*this, until);
  }
  /// False: it was not armed (any more).
  bool disarm() noexcept { return claim != nullptr && source->disarm(*this); }
};

template <>
struct time_limit<false> {
  void enter(core::context&) noexcept {}
};

template <bool Used, class Wait>
struct stop_limit {};

/// A stop callback that has won takes its own registration away, which inside the callback does not wait: so the owner
/// never waits for what runs inside request_stop() after it, which may be the code of others that this let through.
template <class Wait>
struct stop_limit<true, Wait> {
  struct on_stop {
    Wait* wait;
    void operator()() const noexcept {
      Wait& waiting = *wait;  // this object goes with its registration
      if (!waiting.decide_to_leave(core::outcome::cancelled) || !waiting.arrive()) return;
      waiting.registration.reset();
      Wait::leave(waiting);
    }
  };

  platform::stop_token token;
  std::optional<platform::stop_callback<on_stop>> registration;
};

}  // namespace weir::wait
