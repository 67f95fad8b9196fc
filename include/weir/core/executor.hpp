#pragma once

// An executor is any type with post(work&) noexcept, which calls run() on the work later, once. It is used by reference
// and outlives what runs on it. Some members are optional:
//   bool retract(work&) noexcept     takes back posted work that has not run. With it a coroutine may be destroyed
//                                    between its grant and its resumption.
//   timer_source& timers()           measures the time limits of what runs here; without it the timer thread does.
//   bool enlist(tenant&) noexcept    with delist(tenant&), for an executor that may end before what runs on it: it then
//                                    evicts its tenants. False: the executor has ended and runs nothing any more.
//   void count_tasks(ptrdiff_t) noexcept
//                                    counts the spawned tasks that run here, for an executor that must outlive them.

#include <concepts>
#include <cstddef>

#include <weir/core/assert.hpp>
#include <weir/core/flat_loop.hpp>
#include <weir/core/front.hpp>
#include <weir/core/shared.hpp>
#include <weir/core/timer.hpp>
#include <weir/core/work.hpp>

namespace weir {

/// A type that runs posted work. An Asio context is excluded: its post() accepts anything and then fails to compile, so
/// weir uses the executor of the context instead.
template <class E>
concept executor = !core::front_context<E> && requires(E& target, work& item) {
  { target.post(item) } noexcept;
};

namespace core {

/// A wait or task that is destroyed with the executor it is enlisted with.
struct tenant {
  explicit tenant(void (*how)(tenant&) noexcept) noexcept : evict(how) {}
  tenant(const tenant&) = delete;
  tenant& operator=(const tenant&) = delete;

  tenant* next = nullptr;
  tenant* prev = nullptr;
  void (*evict)(tenant&) noexcept;  // delists and destroys it

 protected:
  ~tenant() = default;
};

}  // namespace core

/// A reference to an executor of any type. The default refers to the flat loop.
class executor_ref {
 public:
  executor_ref() noexcept : executor_ref(the_flat_loop) {}

  /// Refers to an executor, which must outlive the reference.
  template <executor E>
    requires(!std::same_as<E, executor_ref>)
  executor_ref(E& target) noexcept : target_(&target), calls_(&calls_of<E>) {}

  /// post() runs the work there. retract() takes back work that has not run; false: it could not be taken back.
  void post(work& item) const noexcept { calls_->post(target_, item); }
  bool retract(work& item) const noexcept { return calls_->retract(target_, item); }

  /// Tells an executor that can end before what runs on it, as an io_context can, what to destroy then. False: it has
  /// ended already and runs nothing any more.
  bool enlist(core::tenant& running) const noexcept { return calls_->enlist(target_, running); }
  void delist(core::tenant& running) const noexcept { calls_->delist(target_, running); }

  /// Counts the spawned tasks that run there: +1 or -1.
  void count_tasks(std::ptrdiff_t change) const noexcept { calls_->count_tasks(target_, change); }

  /// The executor, if it is an E. Null: it has another type, or was named in another library and E is not WEIR_SHARED.
  template <executor E>
  [[nodiscard]] E* as() const noexcept {
    return calls_ == &calls_of<E> ? &of<E>(target_) : nullptr;
  }

  /// The timers of the executor; null if it has none.
  [[nodiscard]] core::timer_source* timers() const { return calls_->timers(target_); }

 private:
  struct calls {
    void (*post)(const void*, work&) noexcept;
    bool (*retract)(const void*, work&) noexcept;
    core::timer_source* (*timers)(const void*);
    bool (*enlist)(const void*, core::tenant&) noexcept;
    void (*delist)(const void*, core::tenant&) noexcept;
    void (*count_tasks)(const void*, std::ptrdiff_t) noexcept;
  };

  template <class E>
  static E& of(const void* target) noexcept {
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
  static core::timer_source* timers_of([[maybe_unused]] E& target) {
    if constexpr (requires { target.timers(); }) {
      return &target.timers();
    } else {
      return nullptr;
    }
  }

  template <class E>
  WEIR_SHARED static constexpr calls calls_of{
      [](const void* target, work& item) noexcept { of<E>(target).post(item); },
      [](const void* target, work& item) noexcept { return retract_from(of<E>(target), item); },
      [](const void* target) { return timers_of(of<E>(target)); },
      []([[maybe_unused]] const void* target, [[maybe_unused]] core::tenant& running) noexcept {
        if constexpr (requires(E& there) { there.enlist(running); }) {
          return of<E>(target).enlist(running);
        } else {
          return true;
        }
      },
      []([[maybe_unused]] const void* target, [[maybe_unused]] core::tenant& running) noexcept {
        if constexpr (requires(E& there) { there.delist(running); }) of<E>(target).delist(running);
      },
      []([[maybe_unused]] const void* target, [[maybe_unused]] std::ptrdiff_t change) noexcept {
        if constexpr (requires(E& there) { there.count_tasks(change); }) of<E>(target).count_tasks(change);
      },
  };

  static constexpr inline_executor the_flat_loop{};

  const void* target_;
  const calls* calls_;
};

}  // namespace weir
