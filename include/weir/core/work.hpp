#pragma once

// Work is what an executor runs: an intrusive node that lives in the coroutine frame or operation state it
// belongs to, so that scheduling allocates nothing.

#include <utility>

#include <weir/core/atomic.hpp>

namespace weir {

/// From post() until run() is entered the link belongs to the executor. run() may destroy the work.
class work {
 public:
  /// How it is run.
  using function = void (*)(work&) noexcept;

  /// Says what to run, now or later, before it is posted.
  work() noexcept {}  // NOLINT: says nothing until somebody sets both members, which keeps the fast paths short
  explicit work(function entry) noexcept : run_(entry) {}  // NOLINT: so is `next`
  work(const work& other) noexcept : run_(other.run_) {}   // NOLINT: in no list
  work& operator=(const work&) = delete;

  /// By the executor, once for each time that it was posted.
  void run() noexcept { run_(*this); }

  /// For the executor's list.
  work* next;

 protected:
  function run_;
};

/// First in, first out.
class work_list {
 public:
  work_list() noexcept = default;
  work_list(const work_list&) = delete;
  work_list& operator=(const work_list&) = delete;

  /// The first, or null.
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] work* front() const noexcept { return first_; }

  /// Behind all others. It is in no other list.
  void push_back(work& item) noexcept {
    item.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &item;
    last_ = &item;
  }

  /// Null if there is none.
  work* pop_front() noexcept {
    work* item = first_;
    if (item != nullptr) {
      first_ = item->next;
      platform::prefetch(first_);
    }
    return item;
  }

  /// Puts all of `other` behind what is here.
  void append(work_list& other) noexcept {
    if (other.first_ == nullptr) return;
    (first_ == nullptr ? first_ : last_->next) = other.first_;
    last_ = other.last_;
    other.first_ = nullptr;
  }

  /// False: it is not here. Looks from the front: for what is done once in a while.
  bool remove(const work& item) noexcept {
    work* before = nullptr;
    for (work* at = first_; at != nullptr; before = std::exchange(at, at->next)) {
      if (at != &item) continue;
      (before == nullptr ? first_ : before->next) = at->next;
      if (last_ == at) last_ = before;
      return true;
    }
    return false;
  }

 private:
  work* first_ = nullptr;
  work* last_ = nullptr;  // means nothing while there is no first
};

}  // namespace weir
