#pragma once

// The base of every synchronizer: a state word that is also its lock, a queue of waiters, and the members that all
// synchronizers share. A synchronizer derives from it and defines the meaning of its own bits.

#include <cstddef>
#include <cstdint>

#include <weir/core/assert.hpp>
#include <weir/core/atomic.hpp>
#include <weir/core/completion.hpp>
#include <weir/core/waiter.hpp>

namespace weir::core {

struct admission;

/// Decides a wait first, and takes then: calls `take(waiting)` only if this call has decided the wait, and granted it.
template <class Node, class Take>
answer claim_then_take(Node& waiting, outcome verdict, Take take) noexcept {
  const answer decided = waiting.decide(verdict);
  if (decided == answer::done && verdict == outcome::granted) take(waiting);
  return decided;
}

/// The `fits` of a synchronizer where anything that is left is enough.
inline constexpr auto anyone = [](const waiter&) noexcept { return true; };

/// state_:
///   bit 0   locked   a thread works on the queue. Every fast path that sees it takes the slow path, so only the holder
///                    changes the word, and one store publishes the new state and unlocks
///   bit 1   queued   the queue is not empty: updated by unlocking
///   bit 2   closed   never cleared
///   above            defined by the synchronizer
///
/// No use after free: unlocking is a thread's last access, and the same store publishes the new state. A waiter that
/// sees the new state may destroy the object at once.
class synchronizer {
 public:
  synchronizer(const synchronizer&) = delete;
  synchronizer& operator=(const synchronizer&) = delete;

  /// The number of queued operations, read without the lock: it may be out of date at once.
  [[nodiscard]] std::size_t waiting() const noexcept { return queue_.size(); }

  /// Cancels every queued operation, which fails with errc::cancelled. Returns how many it cancelled.
  std::size_t cancel_all() noexcept {
    completion done;
    locked lock(*this);
    return complete_all(lock, outcome::cancelled, done);
  }

  /// Closes: every queued operation, and every later one, fails with errc::closed.
  void close() noexcept {
    completion done;
    locked lock(*this);
    lock.state |= closed_bit;
    complete_all(lock, outcome::closed, done);
  }

  [[nodiscard]] bool closed() const noexcept { return (load() & closed_bit) != 0; }

 protected:
  using word = std::uint64_t;
  static constexpr word locked_bit = 1;
  static constexpr word queued_bit = 2;
  static constexpr word closed_bit = 4;
  static constexpr int own_shift = 3;  // the first bit of the synchronizer's own

  /// Proof that the lock is held, and the state that unlocking will publish.
  class critical_section {
   public:
    explicit critical_section(synchronizer& object) noexcept : state(object.lock()), object_(object) {}
    critical_section(const critical_section&) = delete;
    critical_section& operator=(const critical_section&) = delete;
    ~critical_section() {
      state = object_.queue_.empty() ? state & ~queued_bit : state | queued_bit;
      // release: pairs with the acquire of every fast path and of lock(). This is the last access to the object.
      object_.state_.store(state, std::memory_order_release);
    }

    [[nodiscard]] bool closed() const noexcept { return (state & closed_bit) != 0; }

    word state;  // locked_bit is never set in it

   private:
    synchronizer& object_;
  };
  using locked = critical_section;  // the mutexes have a member function of this name

  explicit synchronizer(word initial) noexcept : state_(initial) {}

  ~synchronizer() { WEIR_ASSERT(queue_.empty(), "the destructor of a synchronizer must begin with shut()"); }

  /// Called first in the destructor of each synchronizer, while its members still exist: closes, then waits until the
  /// waiters that were decided elsewhere are withdrawn. The parties that withdraw them run no user code before that.
  void shut() noexcept {
    if ((load() & (locked_bit | queued_bit)) == 0) return;  // not in use: load() sees the last access of each thread
    close();
    for (platform::spinner spin;; spin.step()) {
      locked lock(*this);
      if (queue_.empty()) return;
    }
  }

  // acquire: pairs with ~critical_section and advance(); what was done before them is visible to the caller (G10)
  [[nodiscard]] word load() const noexcept { return state_.load(std::memory_order_acquire); }

  /// One step of a fast path: from the state that was seen to the next one.
  bool advance(word& seen, word next) noexcept {
    // acq_rel: acquire as in load(); release publishes what the caller did before (G10). acquire on failure: as load()
    return state_.compare_exchange_strong(seen, next, std::memory_order_acq_rel, std::memory_order_acquire);
  }

  /// Queues the waiter; `lost` if its wait is decided already (impossible for deciders::lock_holder).
  answer enqueue(locked&, waiter& last) noexcept {
    if (last.wait->decided()) return answer::lost;
    queue_.push(last);
    return answer::queued;
  }

  /// Queues the waiter ahead of all others.
  answer enqueue_first(locked&, waiter& first) noexcept {
    if (first.wait->decided()) return answer::lost;
    queue_.push_front(first);
    return answer::queued;
  }

  /// Serves the queue from its head while `left()` is true and `grant(waiter)` does not return not_ready. `grant`
  /// checks whether enough is left, then decides the wait, then takes; not_ready ends the serving, so that no waiter
  /// overtakes the head.
  template <class Left, class Grant>
  void serve(locked&, completion& done, Left left, Grant grant) noexcept {
    if (queue_.empty() || !left()) return;
    queue_.for_each_undecided([&](waiter& first) {
      const answer given = grant(first);
      if (given == answer::done) detach(first, done);
      return given != answer::not_ready && left();  // stops before it touches a waiter that cannot be granted
    });
  }
  template <class Grant>
  void serve(locked& lock, completion& done, Grant grant) noexcept {
    serve(lock, done, [] { return true; }, grant);
  }

  /// Serves the queue by three functions: `left()` returns whether anything is left to grant, `fits(waiter)` whether it
  /// is enough for this waiter, and `take(waiter)` takes it.
  template <class Node, class Left, class Fits, class Take>
  void serve(locked& lock, completion& done, Left left, Fits fits, Take take) noexcept {
    serve(lock, done, left, [&](waiter& first) noexcept {
      auto& waiting = static_cast<Node&>(first);
      return fits(waiting) ? claim_then_take(waiting, outcome::granted, take) : answer::not_ready;
    });
  }

  /// The first queued waiter whose wait is undecided; null if there is none.
  waiter* first_undecided(locked&) noexcept {
    waiter* found = nullptr;
    queue_.for_each_undecided([&](waiter& first) {
      found = &first;
      return false;
    });
    return found;
  }
  bool anybody_waits(locked& lock) noexcept { return first_undecided(lock) != nullptr; }

  template <class Visit>
  void for_each_undecided(locked&, Visit visit) noexcept {
    queue_.for_each_undecided([&](waiter& each) {
      visit(each);
      return true;
    });
  }

  /// Removes a waiter from the queue; the caller then serves the waiters behind it. False: it was not queued any more.
  bool unlink(locked&, waiter& queued) noexcept { return queue_.remove(queued); }

  /// Decides every queued wait. Returns how many this call decided.
  std::size_t complete_all(locked&, outcome verdict, completion& done) noexcept {
    std::size_t decided = 0;
    queue_.for_each_undecided([&](waiter& queued) {
      if (queued.decide(verdict) == answer::done) {
        detach(queued, done);
        ++decided;
      }
      return true;
    });
    return decided;
  }

 private:
  friend struct admission;

  [[gnu::noinline]] word lock() noexcept {
    for (platform::spinner spin;; spin.step()) {
      word seen = state_.load(std::memory_order_relaxed);  // relaxed: the compare-exchange acquires
      if ((seen & locked_bit) != 0) continue;
      // acquire: pairs with the store in ~critical_section
      if (state_.compare_exchange_weak(seen, seen | locked_bit, std::memory_order_acquire, std::memory_order_relaxed))
        return seen;
    }
  }

  void detach(waiter& decided, completion& done) noexcept {
    queue_.remove(decided);
    done.add(*decided.wait);
  }

  platform::atomic<word> state_;
  wait_queue queue_;
};

}  // namespace weir::core
