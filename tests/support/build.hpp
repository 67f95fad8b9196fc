#pragma once

// What kind of build the tests are in: stress does less where each step costs more.

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define WEIR_TEST_SANITIZED
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define WEIR_TEST_SANITIZED
#endif
#endif

namespace weir::test {

#if defined(WEIR_TEST_SANITIZED)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

#if defined(__OPTIMIZE__)
inline constexpr bool optimized = true;
#else
inline constexpr bool optimized = false;
#endif

}  // namespace weir::test
