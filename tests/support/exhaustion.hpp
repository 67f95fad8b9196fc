#pragma once

// Memory and threads that run out, when a test says so. A program that links exhaustion.cpp has an operator new, an
// aligned_alloc (which Asio uses) and, without a sanitizer, a pthread_create that can fail.

#include <cstddef>
#include <utility>

namespace weir::test {

/// While it lives, the allocation of this thread that comes after `succeed` others fails, once.
class failing_allocation {
 public:
  explicit failing_allocation(std::size_t succeed) noexcept;
  failing_allocation(const failing_allocation&) = delete;
  failing_allocation& operator=(const failing_allocation&) = delete;
  ~failing_allocation();

  /// Whether it was reached.
  [[nodiscard]] static bool has_failed() noexcept;
};

/// While it lives, no thread can be started.
class no_threads {
 public:
  no_threads() noexcept;
  no_threads(const no_threads&) = delete;
  no_threads& operator=(const no_threads&) = delete;
  ~no_threads();
};

/// Calls attempt(run) once for each allocation that run(call) makes, which is the one that fails then, and once more
/// without a failure. attempt() sets up, calls run(call) once, and checks what has come of it by what that returns:
/// whether an allocation has failed. How many allocations there are.
template <class Attempt>
std::size_t with_each_allocation_failing(Attempt attempt) {
  for (std::size_t succeed = 0;; ++succeed) {
    bool failed = false;
    attempt([&](auto call) {
      const failing_allocation fails(succeed);
      try {
        call();
      } catch (...) {
        failed = failing_allocation::has_failed();
        throw;
      }
      failed = failing_allocation::has_failed();
      return failed;
    });
    if (!failed) return succeed;
  }
}

}  // namespace weir::test
