#pragma once

// The one alias through which weir reaches atomics, parking, thread identity, thread-locals and stop
// tokens. A test that explores interleavings defines WEIR_PLATFORM_HEADER as a header that offers
// namespace weir::platform in its own way; every program else gets the standard library's.

#if defined(WEIR_PLATFORM_HEADER)
#include WEIR_PLATFORM_HEADER
#else
#include <weir/core/platform_std.hpp>
#endif
