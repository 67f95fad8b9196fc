#pragma once

// The sequences of all subjects, by number.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <sequential/condition.hpp>
#include <sequential/permits.hpp>
#include <sequential/sequence.hpp>
#include <sequential/subjects.hpp>

namespace weir::sequential {

struct named_sequence {
  const char* name;
  std::optional<std::string> (*run)(std::span<const std::uint8_t> steps);
};

template <class... Subject>
struct sequences_of {
  static constexpr std::array all{named_sequence{Subject::name, sequence<Subject>::run}...,
                                  named_sequence{select_subject::name, sequence<select_subject>::run},
                                  named_sequence{condition_sequence::name, condition_sequence::run}};
};
inline constexpr const auto& all_sequences = each_subject<sequences_of>::all;

/// The first byte says of what.
inline std::optional<std::string> run_sequence(std::span<const std::uint8_t> steps) {
  if (steps.empty()) return std::nullopt;
  const named_sequence& chosen = all_sequences[steps[0] % all_sequences.size()];
  auto wrong = chosen.run(steps.subspan(1));
  if (wrong) *wrong = std::string(chosen.name) + ":\n" + *wrong;
  return wrong;
}

}  // namespace weir::sequential
