#pragma once

// What tests post to executors.

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include <weir/core/work.hpp>

namespace weir::test {

/// Work that runs the given code.
template <class Code>
class job : public work {
 public:
  explicit job(Code code)
      : work([](work& posted) noexcept { static_cast<job&>(posted).code_(); }), code_(std::move(code)) {}

 private:
  Code code_;
};

using log = std::vector<std::string>;

/// Work that adds a line to a log.
inline auto writes(log& written, const char* line) {
  return job([&written, line] { written.emplace_back(line); });
}

/// Work that counts how often it runs.
struct counting : work {
  counting() : work([](work& posted) noexcept { static_cast<counting&>(posted).runs.fetch_add(1); }) {}
  std::atomic<int> runs{0};
};

}  // namespace weir::test
