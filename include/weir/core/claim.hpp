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
/// word_: an outcome, and for a wait whose starter arms limits three flags: arming (the starter is still at work),
/// completed (the waiter is in no queue: the owner may be notified), leaves (given up by a limit or a ticket, not under
/// the object's lock: it has to be withdrawn). The states, and what leads from one to the next:
///
///   state                                    meaning                          next
///   pending                                  undecided, no starter at work    decide → decided; if armed → completed
///   arming                                   undecided, being started         decide → decided in start
///                                                                             finish_arming → pending
///   arming + outcome [+ leaves]              decided in start: decided, not   arrive → completed in start
///                                            yet detached                     finish_arming → decided
///   arming + outcome + completed [+ leaves]  completed in start               finish_arming → completed; the starter
///                                                                             resumes the owner, and withdraws the
///                                                                             waiter if `leaves` is set
///   outcome [+ leaves]                       decided: never armed, or         arrive → completed
///                                            decided in start
///   outcome + completed [+ leaves]           completed: detached, and the     reset → pending (staged operations)
///                                            owner may be notified
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

  /// Called by the starter. True: not completed yet; the party that completes it notifies the owner. False: completed
  /// in start; the starter handles the outcome.
  bool finish_arming() noexcept {
    // acq_rel: pairs with arrive(); the later of the two sees all that the other did
    return (word_.fetch_and(~arming, std::memory_order_acq_rel) & completed) == 0;
  }

  /// Called by the party that has detached it; a second call changes nothing. True: notify the owner. False: its
  /// starter is still at work and handles the outcome.
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
