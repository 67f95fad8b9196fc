#pragma once

// What a waiter knows of where it runs: its executor, who owns what it locks, and its stop token.

#include <cstdint>

#include <weir/core/atomic.hpp>
#include <weir/core/executor.hpp>
#include <weir/core/running_owner.hpp>
#include <weir/core/shared.hpp>

namespace weir {

class owner_id;

namespace core {
class context;
owner_id blocking_owner() noexcept;
}  // namespace core

/// Who holds a lock: a chain of tasks, a thread, or a name of the user's. The default is nobody known.
class owner_id {
 public:
  constexpr owner_id() noexcept = default;

  /// A new one, different from every other: never used again, so a lock left behind by somebody who is
  /// gone is not taken for a stranger's own. Each thread takes them from a block of its own.
  WEIR_SHARED static owner_id make() noexcept {
    static platform::atomic<std::uint64_t> blocks{0};
    auto& mine = platform::local<block>();
    if (mine.next == mine.end) {
      mine.next = blocks.fetch_add(block_size, std::memory_order_relaxed);  // relaxed: only unique
      mine.end = mine.next + block_size;
    }
    return owner_id(++mine.next);
  }

  /// The same for the whole life of a thread.
  static owner_id this_thread() noexcept {
    auto& mine = platform::local<identity>();
    if (mine.value == 0) mine.value = make().value_;
    return owner_id(mine.value);
  }

  /// 0: nobody. An owner is true, and equal to itself.
  [[nodiscard]] std::uint64_t value() const noexcept { return value_; }
  explicit operator bool() const noexcept { return value_ != 0; }
  friend bool operator==(owner_id, owner_id) noexcept = default;

 private:
  friend class core::context;
  friend owner_id core::blocking_owner() noexcept;
  static constexpr std::uint64_t block_size = 1 << 16;

  struct WEIR_SHARED block {
    std::uint64_t next, end;
  };
  struct WEIR_SHARED identity {
    std::uint64_t value;
  };

  constexpr explicit owner_id(std::uint64_t value) noexcept : value_(value) {}
  std::uint64_t value_ = 0;
};

namespace core {

class context {
 public:
  context() noexcept : context({}, {}, {}) {}
  context(executor_ref where, owner_id who, const platform::stop_token* stopped) noexcept
      : executor(where), stop(stopped), owner_(who.value() & (~std::uint64_t{0} >> 1)) {}

  [[nodiscard]] owner_id owner() const noexcept { return owner_id(owner_); }

  executor_ref executor;
  const platform::stop_token* stop;  // whoever has started it keeps it: to copy one takes an atomic step. Null: none
  bool away : 1 = false;  // resume_on, or something foreign, has taken it elsewhere: the next wait brings it home

 private:
  std::uint64_t owner_ : 63;  // in one word with `away`: each task has a context
};

/// While it lives, this thread runs a task of that context; or, if that is null, what it ran before.
class running_task : running_for {
 public:
  explicit running_task(const context* where) noexcept
      : running_for(where != nullptr ? where->owner().value() : running_owner::current()) {}
};

/// Who waits when this thread blocks: the task that it runs, else the thread.
inline owner_id blocking_owner() noexcept {
  const std::uint64_t task = running_owner::current();
  return task != 0 ? owner_id(task) : owner_id::this_thread();
}

}  // namespace core
}  // namespace weir
