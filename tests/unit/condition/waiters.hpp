#pragma once

// A condition with its mutex, and coroutines that wait for it.

#include <optional>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

#include <weir/condition.hpp>
#include <weir/mutex.hpp>
#include <weir/run/timers.hpp>

#include <support/foreign.hpp>

namespace weir::test {

struct shared_state {
  mutex guards;
  condition changed;
  std::vector<int> log;
  int value = 0;
};

inline foreign logs_when_notified(shared_state& state, int id) {
  auto held = co_await state.guards.scoped_lock();
  co_await state.changed.wait(held);
  EXPECT_TRUE(held.owns_lock());
  state.log.push_back(id);
}

template <class Limit>
foreign keeps_its_outcome(shared_state& state, std::optional<std::error_code>& error, Limit limit) {
  auto held = co_await state.guards.scoped_lock();
  const auto outcome = co_await limit(state.changed.wait(held));
  error = outcome.error();
  EXPECT_TRUE(held.owns_lock()) << "the mutex is held again whenever the wait completes";
}

template <class Limit>
foreign waits_for_one(shared_state& state, std::optional<std::error_code>& error, Limit limit) {
  auto held = co_await state.guards.scoped_lock();
  auto is_one = [&state] { return state.value == 1; };
  const auto outcome = co_await limit(state.changed.wait(held, is_one));
  error = outcome.error();
  EXPECT_TRUE(held.owns_lock());
}

class condition_with_clock : public testing::Test {
 protected:
  manual_timers clock;
  use_timers by_hand{clock};
  shared_state state;
  std::optional<std::error_code> error;
};

}  // namespace weir::test
