#pragma once

// sleep_for and sleep_until: operations like all others, with limits, a stop token and every way of waiting. A sleep
// never ends early, and giving it up loses nothing.

#include <exception>
#include <utility>

#include <weir/core/chrono.hpp>
#include <weir/core/completion.hpp>
#include <weir/core/context.hpp>
#include <weir/core/operation.hpp>
#include <weir/core/result.hpp>
#include <weir/core/timer.hpp>
#include <weir/run/timers.hpp>
#include <weir/wait/limits.hpp>
#include <weir/wait/operation.hpp>

namespace weir {

namespace wait {

/// A template, so that only files that sleep compile it: a library that uses timers stays loaded (core::stays_loaded).
template <class Deadline>
class basic_sleep_op {
 public:
  using value_type = void;

  struct node : core::waiter {
    struct alarm : Deadline {
      waiter* sleeper = nullptr;
    };

    void enter(core::context& where) { clock.enter(where); }
    alarm clock;
    std::exception_ptr failure;  // set if no timers could be started
  };

  basic_sleep_op(core::duration longest, core::time_point latest) noexcept : longest_(longest), latest_(latest) {}

  core::answer try_now(node& asking) noexcept {
    asking.clock.limit_within(longest_);
    asking.clock.limit_until(latest_);
    return has_ended(asking) ? asking.decide(core::outcome::granted) : core::answer::not_ready;
  }

  core::answer start(node& starting, core::completion&) noexcept {
    if (starting.wait->decided()) return core::answer::lost;
    starting.clock.sleeper = &starting;
    starting.clock.arm([](core::timer& t) noexcept -> core::timer::fire_function {
      if (sleeper_of(t).decide(core::outcome::granted) != core::answer::done) return nullptr;
      return [](core::timer& won) noexcept {
        core::completion done;
        done.add(*sleeper_of(won).wait);
      };
    });
    return core::answer::queued;
  }

  bool withdraw(node& sleeping, core::completion&) noexcept { return sleeping.clock.disarm(); }
  void give_back(node&) noexcept {}
  result<> take(node& woken) noexcept {
    return woken.failure ? result<>::failure(std::move(woken.failure)) : result<>();
  }

 private:
  /// True: the time has passed already, or cannot be measured.
  static bool has_ended(node& asking) noexcept {
    try {
      return asking.clock.expired_at_once();
    } catch (...) {
      asking.failure = std::current_exception();
      return true;
    }
  }

  static core::waiter& sleeper_of(core::timer& t) noexcept { return *static_cast<typename node::alarm&>(t).sleeper; }

  core::duration longest_;
  core::time_point latest_;
};

using sleep_op = basic_sleep_op<deadline<timed>>;

}  // namespace wait

/// Waits for a duration, counted from the start of the wait. With zero or less it does not wait.
template <class Rep, class Period>
auto sleep_for(std::chrono::duration<Rep, Period> longest) noexcept {
  return operation<wait::sleep_op>(wait::sleep_op(wait::saturated(longest), core::time_point::max()));
}

/// Waits until a point in time.
inline auto sleep_until(std::chrono::steady_clock::time_point latest) noexcept {
  return operation<wait::sleep_op>(wait::sleep_op(core::duration::max(), latest));
}

}  // namespace weir
