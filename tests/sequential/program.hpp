#pragma once

// Small programs at random, for several who call one synchronizer at the same time.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <vector>

#include <sequential/model.hpp>

namespace weir::sequential {

struct command {
  enum kind : std::uint8_t { own, cancel, time } what = own;
  wish asked;            // of a cancel: the id of the wait
  bool limited = false;  // a wait: until time passes
};

/// The ids of all waits are different, and each is the number of its command.
using program = std::vector<std::vector<command>>;

template <class Model, bool IsOne>
program random_program(std::uint32_t seed, std::size_t threads, std::size_t commands_each, bool with_tickets) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t n) { return static_cast<int>(random() % n); };
  program made(threads);
  int id = 0;
  for (auto& thread : made) {
    std::vector<int> waits;
    for (std::size_t i = 0; i < commands_each; ++i, ++id) {
      command next;
      if (with_tickets && !waits.empty() && below(5) == 0) {
        next.what = command::cancel;
        next.asked.id = waits[static_cast<std::size_t>(below(waits.size()))];
      } else if (with_tickets && below(12) == 0) {
        next.what = command::time;
      } else if (IsOne && below(12) == 0) {
        next.asked = {id, below(3) == 0 ? close : cancel_all};
      } else {
        int chosen = below(std::size(Model::verbs));
        while (!Model::verbs[static_cast<std::size_t>(chosen)].at_once) chosen = below(std::size(Model::verbs));
        const verb& spoken = Model::verbs[static_cast<std::size_t>(chosen)];
        next.asked = {id, chosen, 1 + below(static_cast<std::size_t>(spoken.most))};
        if (spoken.waits) waits.push_back(id);
        next.limited = below(2) == 0;
      }
      thread.push_back(next);
    }
  }
  return made;
}

}  // namespace weir::sequential
