#pragma once

// A claim decides one wait. The party that changes it from pending to an outcome has decided the wait: the releaser
// that grants, the timer, the stop callback, the ticket, close(). All other parties see that they have lost. Nothing
// else decides an outcome.

#include <cstdint>

#include <weir/core/atomic.hpp>
#include <weir/core/errc.hpp>
#include <weir/core/work.hpp>

namespace weir::core {

/// The failures have the numbers of their errc.
enum class outcome : std::uint32_t {
  pending = 0,
  timed_out = static_cast<std::uint32_t>(errc::timed_out),
  cancelled = static_cast<std::uint32_t>(errc::cancelled),
  closed = static_cast<std::uint32_t>(errc::closed),
  would_deadlock = static_cast<std::uint32_t>(errc::would_deadlock),
  not_owner = static_cast<std::uint32_t>(errc::not_owner),
  granted = 7,
};

/// Which parties may decide a wait. Without a limit, a ticket or several stages only the holder of the object's lock
/// can, which needs no atomic read-modify-write. Otherwise the parties race.
enum class deciders : std::uint8_t { lock_holder, anybody };

class completion;
struct waiter;

/// Until the owner is notified, the work function of its claim is the one that notifies it; the notification may then
/// reuse the work to resume the owner on an executor.
///
/// word_: an outcome, and for a wait that several parties race for these flags:
///   arming      the starter is still at work
///   completed   the starter is not at work any more, or does not have to be waited for: the rest is up to one party
///   leaves      given up by a limit or a ticket, not under the object's lock: the waiter has to be withdrawn
///   unqueued    it was decided before it could be queued: there is nothing to withdraw, and its object may be gone
///
/// The states, and what leads from one to the next:
///
///   state                           meaning                                next
///   pending                         undecided, no starter at work          decide → completed; lock_holder → decided
///   arming                          undecided, being started               decide → decided in start
///                                                                          finish_arming → pending
///   arming + outcome                decided in start                       arrive → completed in start
///                                                                          finish_arming → decided
///   arming + outcome + completed    completed in start                     finish_arming → completed: the starter
///                                                                          withdraws and handles the outcome
///   outcome                         decided, and not arrived yet           arrive → completed
///   outcome + completed             completed: the deciding party          reset → pending (staged operations)
///                                   withdraws and notifies
///
/// A timer against a release: both compare-exchange the pending word. If the timer wins, the releaser skips the waiter,
/// and what it had goes to the next; the timer then takes the object's lock to unlink the waiter, and notifies the
/// owner. If the releaser wins, it takes and unlinks under the object's lock, and notifies; the timer, which fails
/// under the lock of the timers, touches the wait no more, and the owner disarms it under that lock before it goes
/// away.
class claim : public work {
 public:
  claim() noexcept = default;
  claim(const claim&) = delete;
  claim& operator=(const claim&) = delete;

  [[nodiscard]] outcome verdict() const noexcept {
    // relaxed: a party that acts on it was notified by a step that synchronizes, or decides by compare-exchange
    return static_cast<outcome>(word_.load(std::memory_order_relaxed) & outcome_mask);
  }
  [[nodiscard]] bool decided() const noexcept { return verdict() != outcome::pending; }

  /// True: this call has decided the wait. The caller then takes what was granted, or withdraws the waiter.
  bool decide(outcome wanted) noexcept { return decide_as(static_cast<std::uint32_t>(wanted)); }

  /// decide() for a limit or a ticket. The caller then calls arrive(): if that is true, the caller withdraws the
  /// waiter; if not, the starter does.
  bool decide_to_leave(outcome wanted) noexcept { return decide_as(static_cast<std::uint32_t>(wanted) | leaves); }

  [[nodiscard]] bool leaving() const noexcept {
    return (word_.load(std::memory_order_relaxed) & leaves) != 0;  // relaxed: as verdict()
  }

  /// Called before any other party can see the wait.
  void set_deciders(deciders who) noexcept { deciders_ = who; }
  [[nodiscard]] deciders decided_by() const noexcept { return deciders_; }

  /// Called before any other party can see the wait. Its starter will call finish_arming().
  void start_arming() noexcept {
    arms_ = true;
    word_.store(arming, std::memory_order_relaxed);  // relaxed: published by the lock, the timers or the stop token
  }

  /// Called by the starter, before finish_arming(), if the wait was decided before it could be queued.
  void never_queued() noexcept {
    word_.fetch_or(unqueued, std::memory_order_relaxed);  // relaxed: published by finish_arming()
  }
  /// Called after arrive().
  [[nodiscard]] bool was_queued() const noexcept {
    return (word_.load(std::memory_order_relaxed) & unqueued) == 0;  // relaxed: arrive() pairs with finish_arming()
  }

  /// Called by the starter. True: not completed yet; the party that completes it notifies the owner. False: completed
  /// in start; the starter handles the outcome.
  bool finish_arming() noexcept {
    // acq_rel: pairs with arrive(); the later of the two sees all that the other did
    return (word_.fetch_and(~arming, std::memory_order_acq_rel) & completed) == 0;
  }

  /// Called by the party that has decided it; a second call changes nothing. True: that party withdraws the waiter, if
  /// it has to be, and notifies the owner. False: its starter is still at work, and does both.
  bool arrive() noexcept {
    // relaxed: the decision has seen all that its starter did
    if (!arms_ || (word_.load(std::memory_order_relaxed) & completed) != 0) return true;
    // acq_rel: pairs with finish_arming()
    return (word_.fetch_or(completed, std::memory_order_acq_rel) & arming) == 0;
  }

  /// Neither armed nor staged: its owner may be notified as soon as it is decided.
  [[nodiscard]] bool is_plain() const noexcept { return !arms_ && !settles_; }

  /// Runs the stage between the decision and the notification (core/staged.hpp). True: notify the owner. False: the
  /// stage waits itself, and its completion notifies the owner.
  inline bool settle(completion& list) noexcept;

  /// Records which of several branches was decided.
  inline void won_by(waiter& branch) noexcept;

  /// Called by the notified owner, which waits again.
  inline void reset() noexcept;

 protected:
  ~claim() = default;

 private:
  friend class settling_claim;

  static constexpr std::uint32_t outcome_mask = 0xff;
  static constexpr std::uint32_t arming = 0x100;
  static constexpr std::uint32_t completed = 0x200;
  static constexpr std::uint32_t leaves = 0x400;
  static constexpr std::uint32_t unqueued = 0x800;

  bool decide_as(std::uint32_t bits) noexcept {
    if (deciders_ == deciders::lock_holder) {
      word_.store(bits, std::memory_order_relaxed);  // relaxed: published by the lock, and by the notification
      return true;
    }
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    do {
      if ((seen & outcome_mask) != 0) return false;
      if ((seen & arming) == 0) bits |= completed;  // saves the read-modify-write in arrive()
      // acq_rel: the winner sees the wait as its starter left it, and finish_arming() sees what the winner did before
    } while (!word_.compare_exchange_weak(seen, seen | bits, std::memory_order_acq_rel, std::memory_order_relaxed));
    return true;
  }

  platform::atomic<std::uint32_t> word_{0};
  deciders deciders_ = deciders::lock_holder;
  bool arms_ = false;
  bool settles_ = false;
};

/// The claim of a staged operation (core/staged.hpp).
class settling_claim : public claim {
 public:
  using settle_function = bool (*)(settling_claim&, completion&) noexcept;

  /// The branch that was decided; null if there is none (pending, or given up).
  [[nodiscard]] waiter* winner() const noexcept { return winner_; }

 protected:
  settling_claim() noexcept { settles_ = true; }
  ~settling_claim() = default;

  settle_function settle_ = nullptr;

 private:
  friend class claim;
  waiter* winner_ = nullptr;  // written by the party that decides, read by the parties that it then notifies
};

inline bool claim::settle(completion& list) noexcept {
  if (!settles_) return true;
  auto& self = static_cast<settling_claim&>(*this);
  return self.settle_(self, list);
}

inline void claim::won_by(waiter& branch) noexcept {
  if (settles_) static_cast<settling_claim&>(*this).winner_ = &branch;
}

inline void claim::reset() noexcept {
  word_.store(0, std::memory_order_relaxed);  // relaxed: no other party sees it until it is queued again
  if (settles_) static_cast<settling_claim&>(*this).winner_ = nullptr;
}

}  // namespace weir::core
