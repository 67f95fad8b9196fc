#pragma once

// Counts what the calling thread allocates: operator new is replaced or, under a sanitizer, observed.

#include <cstddef>

namespace weir::test {

/// How often this thread has allocated since it started.
std::size_t allocations() noexcept;

}  // namespace weir::test
