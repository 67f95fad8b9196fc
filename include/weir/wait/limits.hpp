#pragma once

// The limits of a wait: a time limit and a stop token. Each is a base class that costs nothing if it is not used.

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

/// The limits of a wait, and as_result(), as bits of one template parameter. Each may be used once.
enum limits : unsigned {
  none = 0,
  within = 1,
  until = 2,
  stop_on = 4,
  as_result = 8,
  timed = within | until,
  limited = timed | stop_on,      // parties other than the holder of the object's lock can decide the wait
  reports = limited | as_result,  // the outcome is returned as a result
};

/// Converts a duration to ticks of the clock: never shorter than `given`, and at most what the clock can count. NaN and
/// negative durations become zero.
template <class Rep, class Period>
constexpr core::duration saturated(std::chrono::duration<Rep, Period> given) noexcept {
  using unit = std::ratio_divide<Period, core::duration::period>;
  constexpr auto most = static_cast<std::uintmax_t>(core::duration::max().count());
  constexpr auto num = static_cast<std::uintmax_t>(unit::num);
  constexpr auto den = static_cast<std::uintmax_t>(unit::den);
  if (!(given.count() > Rep{})) return core::duration::zero();
  if constexpr (std::is_integral_v<Rep> && den <= most / num) {
    const auto count = static_cast<std::uintmax_t>(given.count());
    // The remainder is scaled separately and rounded up: count * num could overflow.
    const std::uintmax_t part = (count % den * num + den - 1) / den;
    if (count / den > (most - part) / num) return core::duration::max();
    return core::duration(static_cast<core::duration::rep>(count / den * num + part));
  } else {
    const long double ticks = static_cast<long double>(given.count()) * num / den;
    // The margin compensates for three roundings, which may shorten it.
    const long double safe = ticks + ticks * 4 * std::numeric_limits<double>::epsilon();
    if (safe >= static_cast<long double>(most)) return core::duration::max();
    return core::duration(static_cast<core::duration::rep>(safe) + 1);
  }
}

/// A deadline, described by within, until or both. `within` alone is stored in at_, and becomes the deadline when the
/// wait starts. That saves 8 bytes in each limited wait; only longest() knows of it.
template <unsigned Said>
class deadline : public core::timer {
 public:
  void limit_within(core::duration longest_wait) noexcept { longest() = longest_wait; }
  void limit_until(core::time_point latest) noexcept { at_ = latest.time_since_epoch(); }

  void enter(core::context& where) { source_ = where.executor.timers(); }

  /// Called when the wait starts: fixes the deadline. True: it has passed already. Throws if no timers can be started.
  bool expired_at_once() {
    if constexpr ((Said & wait::within) != 0) {
      const core::duration wanted = longest();
      if (wanted <= core::duration::zero()) return true;
      const core::duration latest = Said == wait::within ? core::duration::max() : at_;
      const core::duration now = since_epoch();
      at_ = wanted < core::duration::max() - now && now + wanted < latest ? now + wanted : latest;
      return at_ <= now;
    } else {
      return expired();
    }
  }

  /// Called after expired_at_once(): whether the deadline has passed by now.
  bool expired() { return at_ <= since_epoch(); }

  void arm(claim_function at_expiry) noexcept {
    claim = at_expiry;
    source_->arm(*this, core::time_point(at_));
  }
  /// False: it was not armed, or not any more.
  bool disarm() noexcept { return claim != nullptr && source_->disarm(*this); }

 protected:
  template <unsigned Fewer>
  void take_over(deadline<Fewer>& described) noexcept {
    if constexpr ((Fewer & wait::within) != 0) longest() = described.longest();
    if constexpr ((Fewer & wait::until) != 0) at_ = described.at_;
  }

 private:
  template <unsigned>
  friend class deadline;

  struct in_place_of_deadline {
    explicit in_place_of_deadline(core::duration) noexcept {}
  };

  core::duration& longest() noexcept {
    if constexpr (Said == timed) {
      return longest_;
    } else {
      return at_;
    }
  }

  core::duration since_epoch() {
    if (source_ == nullptr) source_ = &timers();
    return source_->now().time_since_epoch();
  }

  [[no_unique_address]] std::conditional_t<Said == timed, core::duration, in_place_of_deadline> longest_{
      core::duration::max()};
  core::duration at_ = core::duration::max();
  core::timer_source* source_ = nullptr;
};

/// The time limit of a wait: when it expires, the wait is given up.
template <unsigned Said, class Wait>
class time_limit : public deadline<Said> {
 public:
  using deadline<Said>::take_over;
  template <class Other>
  void take_over(time_limit<none, Other>&) noexcept {}

  /// Expiry has two steps. The first decides the wait, under the lock of the timers. If it has decided, the owner
  /// cannot destroy the wait yet, and the second step completes it after that lock is released.
  void arm() noexcept {
    deadline<Said>::arm([](core::timer& expired) noexcept -> core::timer::fire_function {
      if (!wait_of(expired).decide_to_leave(core::outcome::timed_out)) return nullptr;
      return [](core::timer& won) noexcept { wait_of(won).leave(); };
    });
  }
  /// Not if it has fired: then it is in no wheel, and the timers have nothing more to do with the wait.
  void disarm() noexcept {
    const Wait& wait = wait_of(*this);
    const bool has_fired = wait.leaving() && wait.verdict() == core::outcome::timed_out;
    if (!has_fired) deadline<Said>::disarm();
  }

 private:
  static Wait& wait_of(core::timer& expired) noexcept {
    return static_cast<Wait&>(static_cast<time_limit&>(static_cast<deadline<Said>&>(expired)));
  }
};

template <class Wait>
class time_limit<none, Wait> {
 public:
  void enter(core::context&) noexcept {}
  static constexpr bool expired_at_once() noexcept { return false; }
  static constexpr bool expired() noexcept { return false; }
  template <class Other>
  void take_over(time_limit<none, Other>&) noexcept {}
  void arm() noexcept {}
  void disarm() noexcept {}
};

/// The stop token of a wait: when a stop is requested, the wait is given up.
template <bool Used, class Wait>
class stop_limit {
 public:
  template <class Other>
  void take_over(stop_limit<false, Other>&) noexcept {}
  static constexpr bool stop_requested() noexcept { return false; }
  void arm() noexcept {}
  void disarm() noexcept {}
};

template <class Wait>
class stop_limit<true, Wait> {
 public:
  void limit_stop(platform::stop_token stop) noexcept { token_ = std::move(stop); }
  template <class Other>
  void take_over(stop_limit<true, Other>& described) noexcept {
    token_ = std::move(described.token_);
  }
  template <class Other>
  void take_over(stop_limit<false, Other>&) noexcept {}

  [[nodiscard]] bool stop_requested() const noexcept { return token_.stop_requested(); }
  void arm() noexcept { registration_.emplace(token_, on_stop{static_cast<Wait*>(this)}); }
  void disarm() noexcept { registration_.reset(); }

 private:
  template <bool, class>
  friend class stop_limit;

  struct on_stop {
    Wait* wait;
    void operator()() const noexcept { wait->give_up(core::outcome::cancelled); }  // may destroy this object
  };

  platform::stop_token token_;
  std::optional<platform::stop_callback<on_stop>> registration_;
};

}  // namespace weir::wait
