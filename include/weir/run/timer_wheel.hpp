#pragma once

// A hierarchical timing wheel. Arming and disarming take constant time and no memory, whatever the number of
// timers; an armed timer moves down at most once a level before it expires. Nobody is locked out here and
// nothing runs by itself: run/timers.hpp does both.
//
// A tick is 1,024 ns. Level k has 64 slots of 64^k ticks; nine levels hold every 64-bit nanosecond. A timer stands in
// the level of the highest base-64 digit in which its tick differs from the current one, in the slot of that
// digit: so all that is armed in a lower level expires before all that is armed in a higher one.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <weir/core/timer.hpp>

namespace weir::core {

class timer_wheel {
 public:
  using tick = std::uint64_t;

  explicit timer_wheel(time_point start) noexcept : now_(passed(start)) {}

  /// The first tick that is not before the deadline: a timer is never early.
  static tick due(time_point deadline) noexcept {
    const auto ns = deadline.time_since_epoch().count();
    return ns <= 0 ? 0 : (static_cast<tick>(ns) + tick_ns - 1) / tick_ns;
  }
  static time_point time_of(tick at) noexcept { return time_point(duration(static_cast<duration::rep>(at * tick_ns))); }

  [[nodiscard]] bool empty() const noexcept { return levels_in_use_ == 0; }

  void arm(timer& added, time_point deadline) noexcept {
    added.tick = due(deadline);
    insert(added);
  }

  /// False: it was not armed (any more).
  bool disarm(timer& armed) noexcept {
    if (armed.link == nullptr) return false;
    unlink(armed);
    return true;
  }

  /// When to look again at the latest: no timer is due before.
  [[nodiscard]] std::optional<time_point> next() const noexcept {
    if (empty()) return std::nullopt;
    return time_of(next_slot().begins);
  }

  /// Moves the clock on and takes out one timer that has expired; null when there is none left up to then.
  timer* expire(time_point now) noexcept {
    const tick target = passed(now);
    while (!empty()) {
      const slot_at at = next_slot();
      if (at.begins > target) break;
      if (at.begins > now_) now_ = at.begins;
      timer* first = levels_[at.level].slots[at.slot];
      if (at.level == 0) {  // a single tick
        unlink(*first);
        return first;
      }
      while (first != nullptr) {  // they share this level's digit with now_: each belongs lower
        timer* next = first->next;
        unlink(*first);
        insert(*first);
        first = next;
      }
    }
    if (target > now_) now_ = target;
    return nullptr;
  }

 private:
  static constexpr tick tick_ns = 1024;
  static constexpr unsigned digit_bits = 6;
  static constexpr std::size_t slots_per_level = 1U << digit_bits;
  static constexpr std::size_t level_count = 9;

  struct level {
    std::uint64_t in_use = 0;  // a bit for each slot that is not empty
    std::array<timer*, slots_per_level> slots{};
  };
  struct slot_at {
    std::size_t level, slot;
    tick begins;
  };

  static tick passed(time_point now) noexcept {
    const auto ns = now.time_since_epoch().count();
    return ns <= 0 ? 0 : static_cast<tick>(ns) / tick_ns;
  }

  void insert(timer& added) noexcept {
    if (added.tick < now_) added.tick = now_;  // overdue: the slot of this very tick
    const tick differs = added.tick ^ now_;
    const std::size_t at = differs == 0 ? 0 : (static_cast<std::size_t>(std::bit_width(differs)) - 1) / digit_bits;
    const std::size_t slot = (added.tick >> (at * digit_bits)) % slots_per_level;
    timer*& head = levels_[at].slots[slot];
    added.next = head;
    added.link = &head;
    if (head != nullptr) head->link = &added.next;
    head = &added;
    levels_[at].in_use |= std::uint64_t{1} << slot;
    levels_in_use_ |= 1U << at;
  }

  void unlink(timer& armed) noexcept {
    *armed.link = armed.next;
    if (armed.next != nullptr) {
      armed.next->link = armed.link;
    } else {
      note_if_empty(armed);
    }
    armed.link = nullptr;
  }

  /// The last of its slot's list was unlinked: was it the only one?
  void note_if_empty(const timer& last) noexcept {
    for (std::uint32_t left = levels_in_use_; left != 0; left &= left - 1) {
      const auto at = static_cast<std::size_t>(std::countr_zero(left));
      auto& candidate = levels_[at];
      const std::size_t slot = (last.tick >> (at * digit_bits)) % slots_per_level;
      if (last.link != &candidate.slots[slot]) continue;
      candidate.in_use &= ~(std::uint64_t{1} << slot);
      if (candidate.in_use == 0) levels_in_use_ &= ~(1U << at);
      return;
    }
  }

  /// Of the lowest level in use the first slot from now on. All slots in use lie ahead of now_, or are now_'s own.
  [[nodiscard]] slot_at next_slot() const noexcept {
    const auto at = static_cast<std::size_t>(std::countr_zero(levels_in_use_));
    const auto slot = static_cast<std::size_t>(std::countr_zero(levels_[at].in_use));
    const auto shift = at * digit_bits;
    const tick above = shift + digit_bits >= 64 ? 0 : (now_ >> (shift + digit_bits)) << (shift + digit_bits);
    return {at, slot, above | (static_cast<tick>(slot) << shift)};
  }

  tick now_;
  std::uint32_t levels_in_use_ = 0;  // a bit for each level with a slot in use
  std::array<level, level_count> levels_{};
};

}  // namespace weir::core
