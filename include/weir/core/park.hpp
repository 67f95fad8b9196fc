#pragma once

// park() blocks a thread for a wait or in a run_loop. A thread that others depend on, such as the timer thread, sets a
// before_park hook, which hands its duties over when code that it runs for others blocks.

#include <weir/core/atomic.hpp>
#include <weir/core/shared.hpp>

namespace weir::core {

/// The hook of each thread. Called by park().
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
