#pragma once

// How large the frame of a coroutine is.

#include <coroutine>
#include <cstddef>
#include <cstdlib>
#include <exception>

namespace weir::test {

/// A coroutine that tells how large its frame is.
struct measured {
  struct promise_type {
    static inline std::size_t frame = 0;
    static void* operator new(std::size_t size) {
      frame = size;
      return std::malloc(size);
    }
    static void operator delete(void* memory) { std::free(memory); }

    measured get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

/// A suspension that nothing can see through, so that a coroutine needs a frame in every build.
struct stop_here {
  static inline std::coroutine_handle<> stopped;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> coroutine) const noexcept { stopped = coroutine; }
  void await_resume() const noexcept {}
};

/// Runs a coroutine that begins with `co_await stop_here()` to its end. Its frame.
template <class Coroutine, class... Argument>
std::size_t frame_of(Coroutine coroutine, Argument&... argument) {
  coroutine(argument...);
  stop_here::stopped.resume();
  return measured::promise_type::frame;
}

}  // namespace weir::test
