// Long random sequences of calls against the models, and those that the fuzzer has kept (tests/fuzz/corpus).

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sequential/sequences.hpp>
#include <support/build.hpp>

namespace weir::sequential {
namespace {

using program = std::vector<std::uint8_t>;

/// The same failure in fewer steps: each is left out that can be.
program shrunk(program fails) {
  for (std::size_t before = 0; before != fails.size();) {
    before = fails.size();
    for (std::size_t at = 1; at + 1 < fails.size();) {
      program shorter = fails;
      const auto step = shorter.begin() + static_cast<std::ptrdiff_t>(at);
      shorter.erase(step, step + 2);
      if (run_sequence(shorter)) {
        fails = shorter;
      } else {
        at += 2;
      }
    }
  }
  return fails;
}

std::string in_hex(const program& bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t each : bytes) text += {digits[each >> 4], digits[each & 15]};
  return text;
}

program from_hex(const std::string& text) {
  program bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

class sequences : public testing::TestWithParam<std::size_t> {};

TEST_P(sequences, do_what_the_model_does) {
  constexpr int programs = test::sanitized || !test::optimized ? 300 : 3000;
  constexpr std::size_t steps = 200;
  std::mt19937 random(20261115);
  for (int i = 0; i < programs; ++i) {
    program bytes{static_cast<std::uint8_t>(GetParam())};
    while (bytes.size() < 2 * steps) bytes.push_back(static_cast<std::uint8_t>(random()));
    if (!run_sequence(bytes)) continue;
    const program shortest = shrunk(bytes);
    FAIL() << *run_sequence(shortest) << "replay: WEIR_SEQUENCE=" << in_hex(shortest)
           << " sequential --gtest_filter=replay.*";
  }
}

INSTANTIATE_TEST_SUITE_P(random, sequences, testing::Range(std::size_t{0}, all_sequences.size()),
                         [](const auto& chosen) { return std::string(all_sequences[chosen.param].name); });

TEST(replay, the_corpus_of_the_fuzzer) {
  int files = 0;
  const auto corpus = std::filesystem::path(__FILE__).parent_path().parent_path() / "fuzz" / "corpus";
  for (const auto& entry : std::filesystem::directory_iterator(corpus)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const program bytes{std::istreambuf_iterator<char>(file), {}};
    const auto wrong = run_sequence(bytes);
    EXPECT_FALSE(wrong) << entry.path().filename() << ": " << *wrong;
    ++files;
  }
  EXPECT_GT(files, 100);
}

TEST(replay, what_the_environment_asks_for) {
  const char* asked = std::getenv("WEIR_SEQUENCE");
  if (asked == nullptr) return;
  const auto wrong = run_sequence(from_hex(asked));
  EXPECT_FALSE(wrong) << *wrong;
}

}  // namespace
}  // namespace weir::sequential
