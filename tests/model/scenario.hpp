#pragma once

// What scenarios are made of: a clock that a fiber moves, an executor, and a record of what a wait has come to.

#include <chrono>
#include <optional>
#include <system_error>
#include <utility>
#include <variant>

#include <gtest/gtest.h>

#include <weir/core/errc.hpp>
#include <weir/core/executor.hpp>
#include <weir/core/result.hpp>
#include <weir/run/timers.hpp>

#include <model/explorer.hpp>
#include <support/foreign.hpp>

namespace weir::model {

using namespace std::chrono_literals;

/// The time of a scenario. A fiber that calls pass() is its timer: limits of 1 s expire.
class time {
 public:
  void pass() noexcept { clock_.advance(2s); }

 private:
  manual_timers clock_{core::time_point(1h)};
  use_timers by_hand_{clock_};
};

/// Runs nothing by itself.
class executor {
 public:
  void post(work& item) noexcept {
    step("post", this);
    posted_.push_back(item);
    changed();
  }
  bool retract(work& item) noexcept {
    step("retract", this);
    return posted_.remove(item);
  }
  void run_all() noexcept {
    while (work* item = take()) item->run();
  }
  template <class Done>
  void run_until(Done done) noexcept {
    for (platform::spinner until; run_all(), !done();) until.step();
  }
  [[nodiscard]] bool empty() const noexcept { return posted_.empty(); }

 private:
  work* take() noexcept {
    step("run", this);
    return posted_.pop_front();
  }
  work_list posted_;
};

/// Of one wait: how often it has completed, and with what.
struct waited {
  int times = 0;
  bool got = false;
  std::size_t index = 0;  // of a select
  std::error_code error;

  template <class T>
  void note(const result<T>& outcome) {
    ++times;
    error = outcome.error();
    if (outcome) note_value(*outcome);
  }
  void note_value(core::nothing) { got = true; }
  void note_value(std::monostate) { got = true; }  // of a select
  void note_value(int) { got = true; }
  void note_value(const std::optional<int>& item) { got = item.has_value(); }  // nothing: closed and drained
  template <class... Branch>
  void note_value(const std::variant<Branch...>& won) {
    index = won.index();
    std::visit([this](const auto& value) { this->note_value(value); }, won);
  }

  auto callback() {
    return [this](const auto& outcome) { note(outcome); };
  }
};

/// A coroutine of a type that weir does not know.
template <class Operation>
test::foreign await(Operation described, waited& came) {
  auto outcome = co_await std::move(described);
  came.note(outcome);
}

/// What may have come of a wait: what it waited for, or one of these.
template <class... Code>
[[nodiscard]] bool got_or(const waited& came, Code... code) {
  return came.times == 1 && (came.got || (... || (came.error == code)));
}

}  // namespace weir::model
