#pragma once

// Whether this thread destroys coroutines that have not ended, as an orderly shutdown does: an operation that such a
// frame keeps for later was not forgotten.

#include <coroutine>

#include <weir/core/atomic.hpp>
#include <weir/core/shared.hpp>

namespace weir::core {

class unfinished_frame {
 public:
  [[nodiscard]] static bool is_being_destroyed() noexcept { return depth() != 0; }

  /// By a thread, before and after.
  static void begin() noexcept { ++depth(); }
  static void end() noexcept { --depth(); }

  /// One that has ended, or has not.
  static void destroy(std::coroutine_handle<> frame) noexcept {
    if (frame.done()) {
      frame.destroy();
      return;
    }
    begin();
    frame.destroy();
    end();
  }

 private:
  struct WEIR_SHARED count {
    int depth;
  };
  static int& depth() noexcept { return platform::local<count>().depth; }
};

}  // namespace weir::core
