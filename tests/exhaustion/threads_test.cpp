// When no thread can be started: the first time limit of a program is refused with an exception, and the next is not.

#include <chrono>
#include <system_error>
#include <thread>
#include <tuple>

#include <gtest/gtest.h>

#include <weir/weir.hpp>

#include <support/build.hpp>
#include <support/exhaustion.hpp>
#include <support/foreign.hpp>

#if !defined(WEIR_TEST_SANITIZED)

namespace weir::test {
namespace {

using namespace std::chrono_literals;

/// Calls what cannot have a thread. The code of the std::system_error that it throws.
template <class Call>
std::error_code refused(Call call) {
  const no_threads available;
  try {
    call();
  } catch (const std::system_error& thrown) {
    return thrown.code();
  }
  return {};
}

// One test, since the timer service of a program starts once.
TEST(no_thread, refuses_a_time_limit_where_it_is_waited_for_and_the_next_one_works) {
  constexpr auto unavailable = std::errc::resource_unavailable_try_again;
  semaphore sem(1);
  event never;
  EXPECT_EQ(refused([&] { EXPECT_TRUE(sem.acquire().within(1h).wait()); }), std::error_code())
      << "what need not wait needs no timer";
  EXPECT_EQ(refused([&] { EXPECT_FALSE(sem.acquire().within(0s).wait()); }), std::error_code())
      << "what may not wait neither";

  EXPECT_EQ(refused([&] { std::ignore = sem.acquire().within(1h).wait(); }), unavailable);
  EXPECT_EQ(refused([&] { std::ignore = sem.acquire().within(1h).start([](const result<>&) { FAIL(); }); }),
            unavailable);
  EXPECT_EQ(refused([&] { sleep_for(1h).wait(); }), unavailable);
  EXPECT_EQ(refused([&] { select(never.wait(), sleep_for(1h)).wait(); }), unavailable);
  const auto awaits = [](semaphore& wanted) -> task<> { std::ignore = co_await wanted.acquire().within(1h); };
  EXPECT_EQ(refused([&] { sync_wait(awaits(sem)); }), unavailable);
  const auto moves = [](event& ready, executor_ref where) -> task<> {
    std::ignore = co_await ready.wait().within(1h).resume_on(where);
  };
  EXPECT_EQ(refused([&] { sync_wait(moves(never, executor_ref())); }), unavailable);
  std::error_code in_foreign;
  const auto foreign_awaits = [](semaphore& wanted, std::error_code& caught) -> foreign {
    try {
      std::ignore = co_await wanted.acquire().within(1h);
    } catch (const std::system_error& thrown) {
      caught = thrown.code();
    }
  };
  {
    const no_threads available;
    auto coroutine = foreign_awaits(sem, in_foreign);
    EXPECT_TRUE(coroutine.done());
  }
  EXPECT_EQ(in_foreign, unavailable);

  EXPECT_EQ(sem.waiting(), 0u);
  EXPECT_EQ(never.waiting(), 0u);
  EXPECT_EQ(sem.acquire().within(1ms).wait().error(), errc::timed_out) << "now there is a thread";

  // The timer thread runs this callback, which blocks: no other thread can take over, and the limits wait for it.
  event blocks;
  bool returned = false;
  std::ignore = sem.acquire().within(1ms).start([&](const result<>&) {
    const no_threads available;
    blocks.wait().wait();
    returned = true;
  });
  while (blocks.waiting() == 0) std::this_thread::yield();
  blocks.set();
  sleep_for(1ms).wait();
  EXPECT_TRUE(returned);
}

}  // namespace
}  // namespace weir::test

#endif
