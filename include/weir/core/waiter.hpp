#pragma once

// A waiter is the entry of one wait in one synchronizer's queue: an intrusive node in the coroutine frame, on the stack
// of the blocked thread or in the state of a callback. The queue only links it. A wait has one waiter for each object
// that it waits for, and one claim for all of them.

#include <cstddef>
#include <cstdint>

#include <weir/core/atomic.hpp>
#include <weir/core/claim.hpp>
#include <weir/core/ring.hpp>

namespace weir::core {

/// The results of starting a wait.
enum class answer : std::uint8_t {
  done,       ///< this call decided the wait: the claim has the outcome
  queued,     ///< the owner will be notified, perhaps before the caller reads this
  not_ready,  ///< the call must not queue, and the wait cannot be decided now
  lost,       ///< another party decided the wait meanwhile: nothing was taken, nothing is queued
};

struct waiter {
  waiter() noexcept {}               // NOLINT: `wait` is set before try_now, `next` when it is queued
  waiter(const waiter&) noexcept {}  // NOLINT: copied only before the wait starts, when there is nothing to copy
  waiter& operator=(const waiter&) = delete;

  waiter* next;
  waiter* prev = nullptr;  // null while it is in no queue
  claim* wait;             // decides the wait that this waiter belongs to; the branches of a select share one

  /// Decides the wait. The caller takes for this waiter only after this has returned done.
  answer decide(outcome verdict) noexcept {
    if (!wait->decide(verdict)) return answer::lost;
    wait->won_by(*this);
    return answer::done;
  }
};

/// A queue of waiters: FIFO, but for push_front(). Every member but size() needs the lock of the object that it belongs
/// to.
///
/// I1  A waiter is linked here from when it is queued until it is decided under the lock or, if it was decided
///     elsewhere, until the party that decided it withdraws it. A waiter that is decided before it is queued is not
///     withdrawn. So if the queue is empty under the lock, no timer, stop callback or ticket touches the object any
///     more.
class wait_queue {
 public:
  [[nodiscard]] bool empty() const noexcept { return waiters_.empty(); }

  // relaxed: only informs, and orders nothing
  [[nodiscard]] std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

  void push(waiter& last) noexcept {
    waiters_.push_back(last);
    count(+1);
  }

  void push_front(waiter& first) noexcept {
    waiters_.push_front(first);
    count(+1);
  }

  /// Unlinks a waiter. False: it is not queued, or not any more.
  [[gnu::always_inline]] bool remove(waiter& queued) noexcept {
    if (!ring<waiter>::linked(queued)) return false;
    waiters_.remove(queued);
    count(-1);
    return true;
  }

  /// Calls visit(waiter) for each undecided waiter, from the head, until it returns false. It may remove the waiter
  /// that it is called with. Decided waiters are left to the parties that decided them (I1).
  template <class Visit>
  void for_each_undecided(Visit visit) noexcept {
    for (waiter* at = waiters_.front(); at != nullptr;) {
      waiter* next = waiters_.after(*at);
      fetch_behind(*at);
      if (!at->wait->decided() && !visit(*at)) {
        // For the next release: `next` is in a cache by now, so fetch the waiter after it, with the lines around it.
        // W4, growth from 1,000 to 1,000,000 waiters: +37 → +10 ns (AMD EPYC; decision 0009).
        if (next != nullptr) platform::prefetch_around(next->next);
        return;
      }
      at = next;
    }
  }

 private:
  /// Prefetches the next waiter: W7 release 97 → 68 ns, together with work_list::pop_front(). And, if waiters were
  /// allocated back to back, the 16th after this one with its claim: W7 release 110 → 74 ns, W9a with 1,000,000 timers
  /// 561 → 469 ns, W4 with 1,000,000 waiters 52 → 48 ns (Sapphire Rapids; decision 0009).
  static void fetch_behind(const waiter& at) noexcept {
    platform::prefetch(at.next);
    platform::prefetch_far(&at, &at, at.next);
    platform::prefetch_far(at.wait, &at, at.next);
  }

  void count(std::ptrdiff_t change) noexcept {
    // relaxed: written only under the lock, which orders the writes
    size_.store(size_.load(std::memory_order_relaxed) + static_cast<std::size_t>(change), std::memory_order_relaxed);
  }

  ring<waiter> waiters_;
  platform::atomic<std::size_t> size_{0};
};

}  // namespace weir::core
