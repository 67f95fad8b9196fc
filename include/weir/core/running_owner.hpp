#pragma once

// The owner of the task that a thread runs: a blocking wait in a function that the task calls waits as this owner. Code
// that runs inside such a call without belonging to the task has no owner.

#include <cstdint>
#include <utility>

#include <weir/core/atomic.hpp>
#include <weir/core/shared.hpp>

namespace weir::core {

/// The value of an owner_id; 0: none. It is a copy: the code that runs here may outlive the context of the task.
struct WEIR_SHARED running_owner {
  std::uint64_t value;

  static std::uint64_t& current() noexcept { return platform::local<running_owner>().value; }
};

/// Marks, while it exists, that this thread runs for that owner.
class running_for {
 public:
  explicit running_for(std::uint64_t owner) noexcept : before_(std::exchange(running_owner::current(), owner)) {}
  running_for(const running_for&) = delete;
  running_for& operator=(const running_for&) = delete;
  ~running_for() { running_owner::current() = before_; }

 private:
  std::uint64_t before_;
};

}  // namespace weir::core
