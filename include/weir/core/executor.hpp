#pragma once

// An executor is anything with post(work&) noexcept: it calls run() on the work later, once. It is used by
// reference and outlives what runs on it. Two members are optional:
//   bool retract(work&) noexcept      takes posted work back before it ran. With it a coroutine may be
//                                     destroyed between its grant and its resumption.
//   timer_source& timers() noexcept   measures the time limits of what runs here; else the timer thread does.

#include <concepts>

#include <weir/core/assert.hpp>
#include <weir/core/flat_loop.hpp>
#include <weir/core/timer.hpp>
#include <weir/core/work.hpp>

namespace weir {

template <class E>
concept executor = requires(E& target, work& item) {
  { target.post(item) } noexcept;
};

/// Names an executor of any type; the executor itself stays where it is. By default the flat loop.
class executor_ref {
 public:
  executor_ref() noexcept : executor_ref(the_flat_loop) {}

  template <executor E>
    requires(!std::same_as<E, executor_ref>)
  executor_ref(E& target) noexcept : target_(&target), calls_(&calls_of<E>) {}

  void post(work& item) const noexcept { calls_->post(target_, item); }
  bool retract(work& item) const noexcept { return calls_->retract(target_, item); }

  /// Null: it has none of its own.
  [[nodiscard]] core::timer_source* timers() const noexcept { return calls_->timers(target_); }

 private:
  struct calls {
    void (*post)(const void*, work&) noexcept;
    bool (*retract)(const void*, work&) noexcept;
    core::timer_source* (*timers)(const void*) noexcept;
  };

  template <class E>
  static E& as(const void* target) noexcept {
    return *const_cast<E*>(static_cast<const E*>(target));
  }

  template <class E>
  static bool retract_from([[maybe_unused]] E& target, [[maybe_unused]] work& item) noexcept {
    if constexpr (requires { target.retract(item); }) {
      return target.retract(item);
    } else {
      core::assertion_failed(
          "a coroutine was destroyed while its resumption was posted to an executor without retract()", __FILE__,
          __LINE__);
    }
  }

  template <class E>
  static core::timer_source* timers_of([[maybe_unused]] E& target) noexcept {
    if constexpr (requires { target.timers(); }) {
      return &target.timers();
    } else {
      return nullptr;
    }
  }

  template <class E>
  static constexpr calls calls_of{
      [](const void* target, work& item) noexcept { as<E>(target).post(item); },
      [](const void* target, work& item) noexcept { return retract_from(as<E>(target), item); },
      [](const void* target) noexcept { return timers_of(as<E>(target)); },
  };

  static constexpr inline_executor the_flat_loop{};

  const void* target_;
  const calls* calls_;
};

}  // namespace weir
