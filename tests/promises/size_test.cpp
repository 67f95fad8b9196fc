// What the objects cost in memory: checked when this file is compiled, save a coroutine's frame.

#include <coroutine>
#include <cstddef>
#include <cstdlib>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/mutex.hpp>
#include <weir/semaphore.hpp>

namespace weir {
namespace {

static_assert(sizeof(semaphore) <= 48);
static_assert(sizeof(mutex) <= 48);
static_assert(sizeof(event) <= 32);

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

/// A suspension that nothing can see through, so that both coroutines need a frame in every build.
struct stop_here {
  static inline std::coroutine_handle<> stopped;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> coroutine) const noexcept { stopped = coroutine; }
  void await_resume() const noexcept {}
};

[[gnu::noinline]] measured waits_for_nothing(semaphore& sem) {
  co_await stop_here();
  sem.release();
}
[[gnu::noinline]] measured waits_for_a_permit(semaphore& sem) {
  co_await stop_here();
  co_await sem.acquire();
  sem.release();
}

TEST(size, a_plain_co_await_adds_at_most_96_bytes_to_a_frame) {
  semaphore sem(1);
  waits_for_nothing(sem);
  stop_here::stopped.resume();
  const std::size_t without = measured::promise_type::frame;
  waits_for_a_permit(sem);
  stop_here::stopped.resume();
  ASSERT_GT(without, 0u);
  EXPECT_LE(measured::promise_type::frame - without, 96u);
}

}  // namespace
}  // namespace weir
