// What the objects cost in memory: checked when this file is compiled, save a coroutine's frame.

#include <cstddef>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/mutex.hpp>
#include <weir/semaphore.hpp>

#include <support/frame.hpp>

namespace weir {
namespace {

static_assert(sizeof(semaphore) <= 48);
static_assert(sizeof(mutex) <= 48);
static_assert(sizeof(event) <= 32);

using test::frame_of;
using test::measured;
using test::stop_here;

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
  const std::size_t without = frame_of(waits_for_nothing, sem);
  ASSERT_GT(without, 0u);
  EXPECT_LE(frame_of(waits_for_a_permit, sem) - without, 96u);
}

}  // namespace
}  // namespace weir
