#pragma once

// Of each thread: the owner of the task that it runs, so that a blocking wait in a function that the task calls knows
// who waits. What runs inside the task's calls without belonging to it has none.

#include <cstdint>
#include <utility>

#include <weir/core/atomic.hpp>
#include <weir/core/shared.hpp>

namespace weir::core {

/// By value: the code that runs here may outlive the context of the task. 0: none.
struct WEIR_SHARED running_owner {
  std::uint64_t value;

  static std::uint64_t& current() noexcept { return platform::local<running_owner>().value; }
};

/// While it lives, this thread runs for that owner.
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
