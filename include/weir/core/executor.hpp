#pragma once

// An executor is anything with post(work&) noexcept: it calls run() on the work later, once. It is used by
// reference and outlives what runs on it. Some members are optional:
//   bool retract(work&) noexcept      takes posted work back before it ran. With it a coroutine may be
//                                     destroyed between its grant and its resumption.
//   timer_source& timers()            measures the time limits of what runs here; else the timer thread does.
//   bool enlist(tenant&) noexcept     with delist(tenant&): for an executor that may end before what runs on it, and
//                                     then destroys it. False: it has ended, and runs nothing any more.
//   void count_tasks(ptrdiff_t) noexcept  one task more, or fewer, runs here on its own: for an executor that must not
//   be
//                                     destroyed before them.

#include <concepts>
#include <cstddef>

#include <weir/core/assert.hpp>
#include <weir/core/flat_loop.hpp>
#include <weir/core/front.hpp>
#include <weir/core/shared.hpp>
#include <weir/core/timer.hpp>
#include <weir/core/work.hpp>

namespace weir {

/// Asio's io_context is asked for its executor instead: its own post() takes anything, and then fails to compile.
template <class E>
concept executor = !core::front_context<E> && requires(E& target, work& item) {
  { target.post(item) } noexcept;
};

namespace core {

/// What is destroyed with the executor that it is enlisted with.
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

/// Names an executor of any type; the executor itself stays where it is. By default the flat loop.
class executor_ref {
 public:
  executor_ref() noexcept : executor_ref(the_flat_loop) {}

  /// Refers to an executor of any type, which must outlive the reference.
  template <executor E>
    requires(!std::same_as<E, executor_ref>)
  executor_ref(E& target) noexcept : target_(&target), calls_(&calls_of<E>) {}

  /// Runs the work there. `retract` takes back what has not run: false, if that is not known or not possible.
  void post(work& item) const noexcept { calls_->post(target_, item); }
  bool retract(work& item) const noexcept { return calls_->retract(target_, item); }

  /// For an executor that can end before what runs on it, as an io_context does: what it destroys then. False: it has
  /// ended already, and runs nothing any more.
  bool enlist(core::tenant& running) const noexcept { return calls_->enlist(target_, running); }
  void delist(core::tenant& running) const noexcept { calls_->delist(target_, running); }

  /// One task more, or fewer, runs there on its own.
  void count_tasks(std::ptrdiff_t change) const noexcept { calls_->count_tasks(target_, change); }

  /// Null: it is of another type; or of this type but in another library, unless E is WEIR_SHARED.
  template <executor E>
  [[nodiscard]] E* as() const noexcept {
    return calls_ == &calls_of<E> ? &of<E>(target_) : nullptr;
  }

  /// Null: it has none of its own.
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
