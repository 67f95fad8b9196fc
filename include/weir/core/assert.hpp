#pragma once

// Mistakes of the caller that a debug build reports: a sentence, then abort. NDEBUG removes the check.

#include <cstdio>
#include <cstdlib>

namespace weir::core {

[[noreturn]] inline void assertion_failed(const char* sentence, const char* file, int line) noexcept {
  std::fprintf(stderr, "%s:%d: weir: %s\n", file, line, sentence);
  std::abort();
}

}  // namespace weir::core

#if defined(NDEBUG)
#define WEIR_ASSERT(condition, sentence) static_cast<void>(0)
#else
#define WEIR_ASSERT(condition, sentence) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : ::weir::core::assertion_failed(sentence, __FILE__, __LINE__))
#endif
