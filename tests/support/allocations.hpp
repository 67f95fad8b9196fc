#pragma once

// Counts what the calling thread allocates: the tests' operator new is replaced.

#include <cstddef>

namespace weir::test {

/// Calls of operator new by this thread since it started.
std::size_t allocations() noexcept;

}  // namespace weir::test
