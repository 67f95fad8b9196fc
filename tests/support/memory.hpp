#pragma once

#include <cstddef>
#include <fstream>
#include <string>

namespace weir::test {

/// How much memory of the process is resident, in KiB.
inline std::size_t resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::size_t kib = 0;
    if (word == "VmRSS:" && status >> kib) return kib;
  }
  return 0;
}

}  // namespace weir::test
