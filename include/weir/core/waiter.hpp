#pragma once

// A waiter is one wait's place in one queue: an intrusive node that lives in the coroutine frame, on the
// blocked thread's stack or in the state of a callback. The queue only links it. A wait has one waiter for
// each object that it waits for, and one claim for all of them.

#include <cstddef>
#include <cstdint>

#include <weir/core/atomic.hpp>
#include <weir/core/claim.hpp>
#include <weir/core/ring.hpp>

namespace weir::core {

/// What starting a wait can answer.
enum class answer : std::uint8_t {
  done,       ///< decided by this call: the claim has the outcome
  queued,     ///< the owner will be told, perhaps before this is read
  not_ready,  ///< asked not to queue, and there is nothing to take now
  lost,       ///< decided by somebody else meanwhile: nothing was taken, nothing is queued
};

struct waiter {
  waiter() noexcept {}               // NOLINT: `wait` is set when it asks, `next` when it is queued
  waiter(const waiter&) noexcept {}  // NOLINT: moved only before it waits, when there is nothing to move
  waiter& operator=(const waiter&) = delete;

  waiter* next;
  waiter* prev = nullptr;  // as long as it is in no queue
  claim* wait;

  /// Claim first, then take: what this waiter is to get is its own only once this says done.
  answer decide(outcome verdict) noexcept {
    if (!wait->decide(verdict)) return answer::lost;
    wait->won_by(*this);
    return answer::done;
  }
};

/// First come, first served. Every member but size() needs the lock of the object that it belongs to.
///
/// I1  A waiter is linked here from the moment it is queued until it is decided under the lock or, if its
///     claim was won elsewhere, until that winner withdraws it. So an object whose queue is empty under
///     the lock is touched by no timer, stop callback or ticket any more.
class wait_queue {
 public:
  [[nodiscard]] bool empty() const noexcept { return waiters_.empty(); }

  [[nodiscard]] std::size_t size() const noexcept {
    return size_.load(std::memory_order_relaxed);
  }  // relaxed: a reading

  void push(waiter& last) noexcept {
    waiters_.push_back(last);
    count(+1);
  }

  void push_front(waiter& first) noexcept {
    waiters_.push_front(first);
    count(+1);
  }

  /// False: it is not queued (any more).
  bool remove(waiter& queued) noexcept {
    if (!ring<waiter>::linked(queued)) return false;
    waiters_.remove(queued);
    count(-1);
    return true;
  }

  /// Calls visit(waiter) from the head for each whose claim nobody has won yet, until it says false. It may
  /// remove the one that it is called with. The others are left to their winners (I1).
  template <class Visit>
  void for_each_undecided(Visit visit) noexcept {
    for (waiter* at = waiters_.front(); at != nullptr;) {
      waiter* next = waiters_.after(*at);
      fetch_behind(*at);
      if (!at->wait->decided() && !visit(*at)) {
        // For the next time: who comes then will be run soon after. Two ahead: what was done here touches the next.
        if (next != nullptr) platform::prefetch_around(next->next);
        return;
      }
      at = next;
    }
  }

 private:
  /// The next; and by a guess one far behind, with its claim: until that is the next it will have come.
  static void fetch_behind(const waiter& at) noexcept {
    platform::prefetch(at.next);
    platform::prefetch_far(&at, &at, at.next);
    platform::prefetch_far(at.wait, &at, at.next);
  }

  void count(std::ptrdiff_t change) noexcept {
    // relaxed: written under the lock only
    size_.store(size_.load(std::memory_order_relaxed) + static_cast<std::size_t>(change), std::memory_order_relaxed);
  }

  ring<waiter> waiters_;
  platform::atomic<std::size_t> size_{0};
};

}  // namespace weir::core
