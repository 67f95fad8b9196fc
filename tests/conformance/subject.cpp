#include <conformance/subject.hpp>

#include <utility>

#include <gtest/gtest.h>

namespace weir::test {

subject::subject() = default;
subject::~subject() = default;

void subject::start_plain(int id, std::function<void()> and_then) {
  start(limits::none, asked_.emplace_back(asked{.id = id, .and_then = std::move(and_then)}));
}

void subject::start_within(int id, core::duration longest, std::function<void()> and_then) {
  start(limits::within, asked_.emplace_back(asked{.id = id, .and_then = std::move(and_then), .longest = longest}));
}

void subject::start_within_hours(int id, std::chrono::hours longest) {
  start(limits::within, asked_.emplace_back(asked{.id = id, .longest = longest}));
}

void subject::start_within_seconds(int id, std::chrono::duration<double> longest) {
  start(limits::within, asked_.emplace_back(asked{.id = id, .longest = longest}));
}

void subject::start_until(int id, core::time_point latest) {
  start(limits::until, asked_.emplace_back(asked{.id = id, .latest = latest}));
}

void subject::start_stoppable(int id, std::stop_token token) {
  start(limits::stop_on, asked_.emplace_back(asked{.id = id, .token = std::move(token)}));
}

void subject::start_stoppable_within(int id, std::stop_token token, core::duration longest) {
  start(limits::within_and_stop_on,
        asked_.emplace_back(asked{.id = id, .longest = longest, .token = std::move(token), .other_order = true}));
}

void subject::start_within_stoppable(int id, core::duration longest, std::stop_token token) {
  start(limits::within_and_stop_on,
        asked_.emplace_back(asked{.id = id, .longest = longest, .token = std::move(token)}));
}

void subject::start_within_until(int id, core::duration longest, core::time_point latest) {
  start(limits::within_and_until, asked_.emplace_back(asked{.id = id, .longest = longest, .latest = latest}));
}

void subject::start_until_within(int id, core::time_point latest, core::duration longest) {
  start(limits::within_and_until,
        asked_.emplace_back(asked{.id = id, .longest = longest, .latest = latest, .other_order = true}));
}

void subject::expect(std::size_t n) {
  let_happen(n);
  EXPECT_EQ(ended(), n);
}

std::size_t subject::ended() {
  std::lock_guard lock(mutex_);
  return endings_.size();
}

std::vector<int> subject::order() {
  std::vector<int> ids;
  for (const auto& each : all()) ids.push_back(each.id);
  return ids;
}

std::error_code subject::error_of(int id) {
  std::vector<std::error_code> found;
  for (const auto& each : all()) {
    if (each.id == id) found.push_back(each.error);
  }
  EXPECT_EQ(found.size(), 1u) << "wait " << id << " has ended " << found.size() << " times";
  return found.empty() ? std::error_code() : found.front();
}

void subject::end(const asked& wait, std::error_code error) noexcept {
  if (wait.and_then) wait.and_then();
  std::lock_guard lock(mutex_);
  endings_.push_back({wait.id, error});
}

std::vector<subject::ending> subject::all() {
  std::lock_guard lock(mutex_);
  return endings_;
}

}  // namespace weir::test
