#pragma once

// A hierarchical timing wheel. Arming and disarming take constant time and no memory, whatever the number of
// timers; an armed timer moves down at most once per level before it expires. Timers of one tick expire in the order
// of arming. The wheel has no lock and no thread: run/timers.hpp adds both.
//
// Level k has 64 slots of 64^k ticks; nine levels hold every 64-bit nanosecond. A timer is in the level of the highest
// base-64 digit in which its tick differs from the current one, in the slot of that digit: so every timer in a lower
// level expires before every timer in a higher one.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <weir/core/ring.hpp>
#include <weir/core/timer.hpp>

namespace weir::core {

class timer_wheel {
 public:
  using tick = std::uint64_t;

  /// The length of a tick: a timer expires at most this much late.
  static constexpr duration resolution{1024};

  explicit timer_wheel(time_point start) noexcept : now_(ticks(start, rounding::down)) {}

  [[nodiscard]] bool empty() const noexcept { return levels_in_use_ == 0; }

  void arm(timer& added, time_point deadline) noexcept {
    insert(added, ticks(deadline, rounding::up));  // up: never early
  }

  /// Returns false if the timer is not armed (any more).
  bool disarm(timer& armed) noexcept {
    if (!ring<timer>::linked(armed)) return false;
    remove(armed);
    return true;
  }

  /// Returns when to call expire() next: no timer is due before.
  [[nodiscard]] std::optional<time_point> next() const noexcept {
    if (empty()) return std::nullopt;
    return time_of(next_slot().begins);
  }

  /// Moves the clock forward and removes one expired timer; null once no timer is left that is due by `now`.
  timer* expire(time_point now) noexcept {
    const tick target = ticks(now, rounding::down);
    while (!empty()) {
      const due_slot due = next_slot();
      if (due.begins > target) break;
      if (due.begins > now_) now_ = due.begins;
      timer* first = slots_[due.slot].front();
      if (due.slot < slots_per_level) {  // level 0: a single tick
        remove(*first);
        return first;
      }
      // The timers of this slot share now_'s digit at this level: each moves to a lower one.
      for (timer* next = nullptr; first != nullptr; first = next) {
        next = slots_[due.slot].after(*first);
        remove(*first);
        insert(*first, tick_of(*first));
      }
    }
    if (target > now_) now_ = target;
    return nullptr;
  }

 private:
  static constexpr unsigned digit_bits = 6;
  static constexpr std::size_t slots_per_level = 1U << digit_bits;
  static constexpr std::size_t level_count = 9;

  static constexpr unsigned slot_bits = 10;  // the slot in timer::place; the bits above are the tick, at most 2^53

  static tick tick_of(const timer& armed) noexcept { return armed.place >> slot_bits; }
  static std::size_t slot_of(const timer& armed) noexcept { return armed.place % (1U << slot_bits); }

  enum class rounding { down, up };
  struct due_slot {
    std::size_t slot;
    tick begins;
  };

  static tick ticks(time_point time, rounding way) noexcept {
    const auto ns = time.time_since_epoch().count();
    if (ns <= 0) return 0;
    constexpr auto tick_ns = static_cast<tick>(resolution.count());
    return (static_cast<tick>(ns) + (way == rounding::up ? tick_ns - 1 : 0)) / tick_ns;
  }

  static time_point time_of(tick at) noexcept {
    if (at > ticks(time_point::max(), rounding::down)) return time_point::max();
    return time_point(resolution * static_cast<duration::rep>(at));
  }

  void insert(timer& added, tick due) noexcept {
    if (due < now_) due = now_;  // overdue: due in the current tick
    const tick differs = due ^ now_;
    const std::size_t level = differs == 0 ? 0 : (static_cast<std::size_t>(std::bit_width(differs)) - 1) / digit_bits;
    const std::size_t digit = (due >> (level * digit_bits)) % slots_per_level;
    const std::size_t slot = level * slots_per_level + digit;
    added.place = due << slot_bits | slot;
    slots_[slot].push_back(added);
    slots_in_use_[level] |= std::uint64_t{1} << digit;
    levels_in_use_ |= 1U << level;
  }

  void remove(timer& armed) noexcept {
    const std::size_t slot = slot_of(armed);
    slots_[slot].remove(armed);
    if (!slots_[slot].empty()) return;
    const std::size_t level = slot / slots_per_level;
    slots_in_use_[level] &= ~(std::uint64_t{1} << (slot % slots_per_level));
    if (slots_in_use_[level] == 0) levels_in_use_ &= ~(1U << level);
  }

  /// Returns the first slot in use of the lowest level in use. Slots in use are ahead of now_, or contain it.
  [[nodiscard]] due_slot next_slot() const noexcept {
    const auto level = static_cast<std::size_t>(std::countr_zero(levels_in_use_));
    const auto digit = static_cast<std::size_t>(std::countr_zero(slots_in_use_[level]));
    const std::size_t shift = level * digit_bits;
    const tick above = (now_ >> (shift + digit_bits)) << (shift + digit_bits);
    return {level * slots_per_level + digit, above | (static_cast<tick>(digit) << shift)};
  }

  tick now_;
  std::uint32_t levels_in_use_ = 0;                        // a bit for each level with a slot in use
  std::array<std::uint64_t, level_count> slots_in_use_{};  // a bit for each slot that is not empty
  std::array<ring<timer>, level_count * slots_per_level> slots_{};
};

}  // namespace weir::core
