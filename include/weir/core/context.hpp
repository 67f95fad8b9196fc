#pragma once

// The context of a task: its executor, the owner of the locks that it takes, and its stop token.

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

/// Identifies the owner of a lock: a chain of tasks, a thread, or an id that the user made. The default identifies no
/// owner.
class owner_id {
 public:
  constexpr owner_id() noexcept = default;

  /// Makes an id that differs from every other and is never reused: so a lock that an ended owner left locked never
  /// belongs to a new one. Each thread takes its ids from its own block.
  WEIR_SHARED static owner_id make() noexcept {
    static platform::atomic<std::uint64_t> blocks{0};
    auto& mine = platform::local<block>();
    if (mine.next == mine.end) {
      mine.next = blocks.fetch_add(block_size, std::memory_order_relaxed);  // relaxed: it only has to be unique
      mine.end = mine.next + block_size;
    }
    return owner_id(++mine.next);
  }

  /// Returns the id of this thread, which never changes.
  static owner_id this_thread() noexcept {
    auto& mine = platform::local<identity>();
    if (mine.value == 0) mine.value = make().value_;
    return owner_id(mine.value);
  }

  /// 0 if it identifies no owner. Every other id converts to true; ids are equal if they identify the same owner.
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
  // The stop token, or null. The starter of the task keeps it: a copy would cost an atomic step.
  const platform::stop_token* stop;
  // Whether resume_on, or an awaitable that is not weir's, has moved the task: the next wait returns to `executor`.
  bool away : 1 = false;

 private:
  std::uint64_t owner_ : 63;  // shares a word with `away`: each task has a context, which should be small
};

/// Marks, while it exists, that this thread runs a task of that context. A null context does not change the owner.
class running_task : running_for {
 public:
  explicit running_task(const context* where) noexcept
      : running_for(where != nullptr ? where->owner().value() : running_owner::current()) {}
};

/// The owner of a wait that blocks this thread: the task that the thread runs, else the thread itself.
inline owner_id blocking_owner() noexcept {
  const std::uint64_t task = running_owner::current();
  return task != 0 ? owner_id(task) : owner_id::this_thread();
}

}  // namespace core
}  // namespace weir
