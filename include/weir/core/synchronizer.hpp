#pragma once

// What every synchronizer is made of: a state word that is also its lock, and a queue of waiters; with the
// members that all of them share. A synchronizer derives from it and adds what its own bits mean.

#include <cstddef>
#include <cstdint>

#include <weir/core/assert.hpp>
#include <weir/core/atomic.hpp>
#include <weir/core/completion.hpp>
#include <weir/core/waiter.hpp>

namespace weir::core {

struct admission;

/// state_:
///   bit 0   locked   somebody works on the queue. Every fast path that meets it goes the slow way, so the
///                    holder alone changes the word, and one store publishes the new state and unlocks
///   bit 1   queued   the queue is not empty: kept so by unlocking
///   bit 2   closed   for ever
///   above   the synchronizer's own
///
/// Why nothing is touched too late: unlocking is the last touch of everyone who locks, and it is the same
/// store that publishes what a waiter could take. Who then destroys the object takes it from nobody.
class synchronizer {
 public:
  synchronizer(const synchronizer&) = delete;
  synchronizer& operator=(const synchronizer&) = delete;

  /// Operations queued now: a reading, no lock.
  [[nodiscard]] std::size_t waiting() const noexcept { return queue_.size(); }

  /// Withdraws every queued operation: it gets errc::cancelled. How many.
  std::size_t cancel_all() noexcept {
    completion done;
    locked lock(*this);
    return complete_all(lock, outcome::cancelled, done);
  }

  /// Every queued operation, and every later one, gets errc::closed.
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
      // release: pairs with the acquire of every fast path and of lock(). The last touch of the object.
      object_.state_.store(state, std::memory_order_release);
    }

    [[nodiscard]] bool closed() const noexcept { return (state & closed_bit) != 0; }

    word state;  // never with locked_bit

   private:
    synchronizer& object_;
  };
  using locked = critical_section;

  explicit synchronizer(word initial) noexcept : state_(initial) {}

  ~synchronizer() { WEIR_ASSERT(queue_.empty(), "the destructor of a synchronizer must begin with shut()"); }

  /// What the destructor of each synchronizer begins with, while all of it is still there: closes, then waits for those
  /// whose claim was won elsewhere to unlink themselves. They run no user code before.
  void shut() noexcept {
    if ((load() & (locked_bit | queued_bit)) == 0) return;  // nobody is there: this sees the last touch of each
    close();
    for (platform::spinner spin;; spin.step()) {
      locked lock(*this);
      if (queue_.empty()) return;
    }
  }

  // acquire: what was done before the state was published is visible to who acts on it (G10)
  [[nodiscard]] word load() const noexcept { return state_.load(std::memory_order_acquire); }

  /// One step of a fast path, from a state that was seen to one that follows.
  bool advance(word& seen, word next) noexcept {
    // acq_rel: acquire as load(); release publishes what its caller did before (G10). A failure is looked at again.
    return state_.compare_exchange_strong(seen, next, std::memory_order_acq_rel, std::memory_order_acquire);
  }

  /// Unless it has lost meanwhile. In a wait with one decider that cannot be.
  answer enqueue(locked&, waiter& last) noexcept {
    if (last.wait->decided()) return answer::lost;
    queue_.push(last);
    return answer::queued;
  }

  /// The same, ahead of all others.
  answer enqueue_first(locked&, waiter& first) noexcept {
    if (first.wait->decided()) return answer::lost;
    queue_.push_front(first);
    return answer::queued;
  }

  /// Claim first, then take: `take(waiter)` is called only if this call has decided the waiter, and granted it.
  template <class Node, class Take>
  static answer decide(Node& waiting, outcome verdict, Take take) noexcept {
    const answer decided = waiting.decide(verdict);
    if (decided == answer::done && verdict == outcome::granted) take(waiting);
    return decided;
  }

  /// Hands the queue what there is: grants from the head while `left()` says that there is something, and
  /// `grant(waiter)` that it can be done. `grant` asks whether what is there is enough, then decides the waiter,
  /// then takes: `answer::not_ready` ends the serving, so that nothing overtakes the head.
  template <class Left, class Grant>
  void serve(locked&, completion& done, Left left, Grant grant) noexcept {
    if (queue_.empty() || !left()) return;
    queue_.for_each_undecided([&](waiter& first) {
      const answer given = grant(first);
      if (given == answer::done) detach(first, done);
      return given != answer::not_ready && left();  // so that whom nothing is left for is not even looked at
    });
  }
  template <class Grant>
  void serve(locked& lock, completion& done, Grant grant) noexcept {
    serve(lock, done, [] { return true; }, grant);
  }

  /// The same in three answers: `left()` whether there is anything to grant, `fits(waiter)` whether it is enough for
  /// this one, `take(waiter)` to take it.
  template <class Node, class Left, class Fits, class Take>
  void serve(locked& lock, completion& done, Left left, Fits fits, Take take) noexcept {
    serve(lock, done, left, [&](waiter& first) noexcept {
      auto& waiting = static_cast<Node&>(first);
      return fits(waiting) ? decide(waiting, outcome::granted, take) : answer::not_ready;
    });
  }

  /// For a `serve` in which anything that is left is enough.
  static constexpr auto anyone = [](const waiter&) noexcept { return true; };

  /// The first that is queued and whose claim nobody has won. Null: there is none.
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

  /// False: it was not queued any more. What stands behind it may be due now: serve afterwards.
  bool unlink(locked&, waiter& queued) noexcept { return queue_.remove(queued); }

  /// Decides all that are queued. How many of them this call decided.
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
      word seen = state_.load(std::memory_order_relaxed);  // relaxed: the exchange below confirms it
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
