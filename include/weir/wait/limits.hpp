#pragma once

// The limits that a wait can have, each a part that costs nothing where it is not used.

#include <cstdint>
#include <limits>
#include <optional>
#include <ratio>
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

/// Any duration in ticks of the clock: never shorter than given, and at most what the clock can count. Not a number,
/// and what is negative, is no time at all.
template <class Rep, class Period>
constexpr core::duration saturated(std::chrono::duration<Rep, Period> given) noexcept {
  using unit = std::ratio_divide<Period, core::duration::period>;
  constexpr auto most = static_cast<std::uintmax_t>(core::duration::max().count());
  constexpr auto num = static_cast<std::uintmax_t>(unit::num);
  constexpr auto den = static_cast<std::uintmax_t>(unit::den);
  if (!(given.count() > Rep{})) return core::duration::zero();
  if constexpr (std::is_integral_v<Rep> && den <= most / num) {
    const auto count = static_cast<std::uintmax_t>(given.count());
    const std::uintmax_t part =
        (count % den * num + den - 1) / den;  // of a unit of `den`: count * num may be too large
    if (count / den > (most - part) / num) return core::duration::max();
    return core::duration(static_cast<core::duration::rep>(count / den * num + part));
  } else {
    const long double ticks = static_cast<long double>(given.count()) * num / den;
    const long double safe =
        ticks + ticks * 4 * std::numeric_limits<double>::epsilon();  // three roundings may shorten it
    if (safe >= static_cast<long double>(most)) return core::duration::max();
    return core::duration(static_cast<core::duration::rep>(safe) + 1);
  }
}

/// Said: within, until, or both. Where one of them was said there is one number: it, and from the start the deadline.
template <unsigned Said>
class time_limit : public core::timer {
 public:
  void limit_within(core::duration longest) noexcept { within() = longest; }
  void limit_until(core::time_point latest) noexcept { until_ = latest.time_since_epoch(); }

  template <unsigned Fewer>
  void take_over(time_limit<Fewer>& said_before) noexcept {
    if constexpr ((Fewer & wait::within) != 0) within() = said_before.within();
    if constexpr ((Fewer & wait::until) != 0) until_ = said_before.until_;
  }

  void enter(core::context& where) { source_ = where.executor.timers(); }

  /// At the start of the wait: fixes the deadline. True: it has passed already. Throws if there are no timers.
  bool expired_at_once() {
    if constexpr ((Said & wait::within) != 0) {
      const core::duration longest = within();
      if (longest <= core::duration::zero()) return true;
      const core::duration latest = Said == wait::within ? core::duration::max() : until_;
      const core::duration now = since_epoch();
      until_ = longest < core::duration::max() - now && now + longest < latest ? now + longest : latest;
      return until_ <= now;
    } else {
      return expired();
    }
  }

  /// Later.
  bool expired() { return until_ <= since_epoch(); }

  void arm(claim_function at_expiry) noexcept {
    claim = at_expiry;
    source_->arm(*this, core::time_point(until_));
  }
  /// False: it was not armed (any more).
  bool disarm() noexcept { return claim != nullptr && source_->disarm(*this); }

 private:
  template <unsigned>
  friend class time_limit;

  struct nothing {
    explicit nothing(core::duration) noexcept {}
  };
  using number_of_its_own = std::conditional_t<Said == timed, core::duration, nothing>;

  core::duration& within() noexcept {
    if constexpr (Said == timed) {
      return within_;
    } else {
      return until_;
    }
  }

  core::duration since_epoch() {
    if (source_ == nullptr) source_ = &timers();
    return source_->now().time_since_epoch();
  }

  [[no_unique_address]] number_of_its_own within_{core::duration::max()};
  core::duration until_ = core::duration::max();
  core::timer_source* source_ = nullptr;
};

template <>
class time_limit<none> {
 public:
  void enter(core::context&) noexcept {}
  static constexpr bool expired_at_once() noexcept { return false; }
  static constexpr bool expired() noexcept { return false; }
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
