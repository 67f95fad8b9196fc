// For libFuzzer (./dev fuzz): any bytes are a sequence of calls, in which a synchronizer does what its model does.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <sequential/sequences.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (const auto wrong = weir::sequential::run_sequence({data, size})) {
    std::fputs(wrong->c_str(), stderr);
    std::abort();
  }
  return 0;
}
