#pragma once

// Blocking a thread of which others may expect something. Whoever has such a thread says in before_park what is to be
// done when it blocks inside code that it runs for others; weir parks through here.

#include <weir/core/atomic.hpp>
#include <weir/core/shared.hpp>

namespace weir::core {

/// Of each thread. Called before every parking that may last.
struct WEIR_SHARED before_park {
  static before_park& current() noexcept { return platform::local<before_park>(); }

  void (*call)(void* object) noexcept = nullptr;
  void* object = nullptr;
};

inline void park(platform::parker& sleeper) noexcept {
  const before_park& hook = before_park::current();
  if (hook.call != nullptr) hook.call(hook.object);
  sleeper.look_then_park();
}

}  // namespace weir::core
