#pragma once

// All of them, by number and by name.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <sequential/events.hpp>
#include <sequential/permits.hpp>
#include <sequential/queue.hpp>
#include <sequential/sequence.hpp>
#include <sequential/shared_mutex.hpp>

namespace weir::sequential {

struct named_sequence {
  const char* name;
  std::optional<std::string> (*run)(std::span<const std::uint8_t> steps);
};

inline constexpr std::array all_sequences{
    named_sequence{"semaphore", sequence<semaphore_subject>::run},
    named_sequence{"mutex", sequence<mutex_subject>::run},
    named_sequence{"recursive_mutex", sequence<recursive_mutex_subject>::run},
    named_sequence{"shared_mutex", sequence<shared_mutex_subject>::run},
    named_sequence{"event", sequence<event_subject>::run},
    named_sequence{"auto_reset_event", sequence<auto_reset_event_subject>::run},
    named_sequence{"latch", sequence<latch_subject>::run},
    named_sequence{"wait_group", sequence<wait_group_subject>::run},
    named_sequence{"barrier", sequence<barrier_subject>::run},
    named_sequence{"queue", sequence<queue_subject<policy::wait>>::run},
    named_sequence{"queue_drop_oldest", sequence<queue_subject<policy::drop_oldest>>::run},
    named_sequence{"queue_drop_newest", sequence<queue_subject<policy::drop_newest>>::run},
    named_sequence{"select", sequence<select_subject>::run},
};

/// The first byte says of what.
inline std::optional<std::string> run_sequence(std::span<const std::uint8_t> steps) {
  if (steps.empty()) return std::nullopt;
  const named_sequence& chosen = all_sequences[steps[0] % all_sequences.size()];
  auto wrong = chosen.run(steps.subspan(1));
  if (wrong) *wrong = std::string(chosen.name) + ":\n" + *wrong;
  return wrong;
}

}  // namespace weir::sequential
