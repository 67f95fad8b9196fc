#pragma once

// Selects namespace weir::platform, through which weir reaches atomics, parking, thread identity, thread-locals and
// stop tokens. A test that explores interleavings defines WEIR_PLATFORM_HEADER as a header with its own weir::platform;
// every other program uses the standard library.

#if defined(WEIR_PLATFORM_HEADER)
#include WEIR_PLATFORM_HEADER
#else
#include <weir/core/platform_std.hpp>
#endif
