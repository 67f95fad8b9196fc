#pragma once

// What the model platform asks of the scheduler: where a fiber may be interrupted, and how it waits. Everything runs on
// one thread of the operating system; outside a schedule all of it does nothing.

#include <cstddef>
#include <cstdint>
#include <new>
#include <source_location>

namespace weir::model {

inline constexpr int most_fibers = 8;

/// Before everything that another fiber could see or do: decides who goes next. `what` and `where` are for the replay.
void step(const char* what, const void* where,
          const std::source_location& from = std::source_location::current()) noexcept;

/// After the current fiber has changed something: those that spin look again.
void changed() noexcept;

/// How often others than the current fiber have changed something.
[[nodiscard]] std::uint64_t changes() noexcept;

/// Lets others go on; this fiber not before one of them has changed something. One that has spun several times goes on
/// only if nobody else can, in turn with its like, or as a preemption: else two could keep a third waiting for ever.
void spin(int times) noexcept;

using function = void (*)(void* object);

/// A fiber that calls function(object). It goes on when its starter blocks, or is interrupted.
void spawn(function entry, void* object) noexcept;

/// Until somebody calls wake() with this fiber's number.
void block() noexcept;
void wake(int fiber) noexcept;
[[nodiscard]] int self() noexcept;

/// While a trace is replayed: what the step that was taken has found or left.
void note(std::uint64_t value) noexcept;

/// Ends this schedule, and with it the exploration.
[[noreturn]] void fail(const char* sentence) noexcept;

inline constexpr std::size_t local_size = 64;
inline constexpr int most_locals = 16;
[[nodiscard]] int new_local() noexcept;

/// Memory of the current fiber for the local of that number. `fresh`: it has to be constructed.
[[nodiscard]] void* local_memory(int number, bool& fresh) noexcept;

/// Says of the object it is a member of whether it is still there, as long as its memory is not used again.
class canary {
 public:
  constexpr canary() noexcept = default;
  canary(const canary&) = delete;
  canary& operator=(const canary&) = delete;
  ~canary() { state_ = 0xdeaddead; }

  void check() const noexcept {
    if (state_ != alive) fail("something was used after its destruction");
  }

 private:
  static constexpr std::uint32_t alive = 0xa11fe;
  volatile std::uint32_t state_ = alive;  // volatile: the destructor's store is not dead
};

}  // namespace weir::model
