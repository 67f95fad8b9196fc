#pragma once

// What kind of build the tests are in: stress does less where each step costs more.

namespace weir::test {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
inline constexpr bool sanitized = __has_feature(thread_sanitizer) || __has_feature(address_sanitizer);
#else
inline constexpr bool sanitized = false;
#endif

#if defined(__OPTIMIZE__)
inline constexpr bool optimized = true;
#else
inline constexpr bool optimized = false;
#endif

}  // namespace weir::test
