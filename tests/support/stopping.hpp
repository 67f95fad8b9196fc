#pragma once

#include <weir/event.hpp>
#include <weir/run/task.hpp>
#include <weir/run/this_task.hpp>

namespace weir::test {

/// Waits until it is let through or its own token stops it.
inline task<> waits_until_stopped(event& let_through) {
  const auto self = co_await this_task();
  const auto passed = co_await let_through.wait().stop_on(self.stop);
}

/// The same, and then lets others through: inside request_stop(), if that has stopped it.
inline task<> waits_until_stopped_then_sets(event& let_through, event& others) {
  co_await waits_until_stopped(let_through);
  others.set();
}

}  // namespace weir::test
