#pragma once

// Assertions report mistakes of the caller in a debug build: they print a sentence and abort. NDEBUG removes them.
// Files compiled with and without NDEBUG may be linked together and then share inline functions: so the data that a
// check reads is maintained in every build, or is marked as not maintained.

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace weir::core {

[[noreturn]] inline void assertion_failed(const char* sentence, const char* file, int line) noexcept {
  std::fprintf(stderr, "%s:%d: weir: %s\n", file, line, sentence);
  std::abort();
}

/// Reports that an executor was destroyed while tasks were suspended on it.
[[noreturn]] inline void tasks_left(const char* executor, std::ptrdiff_t tasks, const char* file, int line) noexcept {
  char sentence[160];
  std::snprintf(sentence, sizeof sentence, "a %s was destroyed while %td task%s suspended on it: wait for %s first",
                executor, tasks, tasks == 1 ? " was" : "s were", tasks == 1 ? "its future" : "their futures");
  assertion_failed(sentence, file, line);
}

}  // namespace weir::core

#if defined(NDEBUG)
#define WEIR_CHECKED false
#define WEIR_ASSERT(condition, sentence) static_cast<void>(0)
#define WEIR_ASSERT_NO_TASKS(executor, tasks) static_cast<void>(0)
#else
#define WEIR_CHECKED true
#define WEIR_ASSERT_NO_TASKS(executor, tasks) \
  ((tasks) == 0 ? static_cast<void>(0) : ::weir::core::tasks_left(executor, tasks, __FILE__, __LINE__))
#define WEIR_ASSERT(condition, sentence) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : ::weir::core::assertion_failed(sentence, __FILE__, __LINE__))
#endif
