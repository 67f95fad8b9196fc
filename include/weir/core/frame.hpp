#pragma once

// unfinished_frame records whether this thread is destroying coroutines that have not ended, as an orderly shutdown
// does. An unused operation in such a frame was not forgotten, and its destructor does not report it.

#include <coroutine>

#include <weir/core/atomic.hpp>
#include <weir/core/shared.hpp>

namespace weir::core {

class unfinished_frame {
 public:
  [[nodiscard]] static bool is_being_destroyed() noexcept { return depth() != 0; }

  /// Called by a thread before and after it destroys such frames.
  static void begin() noexcept { ++depth(); }
  static void end() noexcept { --depth(); }

  /// Destroys a frame, whether it has ended or not.
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
