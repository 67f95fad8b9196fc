#pragma once

// What latch and barrier have in common: arrivals, and waiters that they let through.

#include <chrono>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/core/errc.hpp>
#include <weir/core/result.hpp>
#include <weir/run/timers.hpp>

#include <support/notes.hpp>

namespace weir::test {

/// Four callers arrive, and none of them waits to the end: one each gives up by its limit, its stop token and its
/// ticket, and one does not wait at all. Their arrivals count.
template <class Object>
void four_arrivals_give_up(Object& all, manual_timers& clock) {
  using namespace std::chrono_literals;
  notes log;
  std::stop_source stop;
  auto timed = all.arrive_and_wait().within(1s).start(log.note(0));
  auto stopped = all.arrive_and_wait().stop_on(stop.get_token()).start(log.note(1));
  auto cancelled = all.arrive_and_wait().start(log.note(2));
  EXPECT_EQ(all.arrive_and_wait().within(0s).wait().error(), errc::timed_out);
  clock.advance(2s);
  stop.request_stop();
  EXPECT_TRUE(cancelled.cancel());
  EXPECT_EQ(log.failed, (std::vector<std::error_code>{errc::timed_out, errc::cancelled, errc::cancelled}));
  EXPECT_EQ(all.waiting(), 0u);
}

/// G6: a waiter destroys its object as soon as it is let through. `wait` makes the operation, `arrive` is the last
/// arrival of `count`.
template <class Object, class Wait, class Arrive>
void a_waiter_destroys_its_object(std::size_t count, Wait wait, Arrive arrive) {
  std::optional<Object> object(std::in_place, count);
  auto waiter = wait(*object).start([&](result<>) { object.reset(); });
  arrive(*object);
  EXPECT_FALSE(object);
}

}  // namespace weir::test
