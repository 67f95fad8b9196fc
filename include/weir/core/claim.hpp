#pragma once

// A claim is what decides one wait. Whoever moves it from pending to an outcome has decided: the releaser
// that grants, the timer, the stop callback, the ticket, close(). All the others see that they lost and
// leave. Nothing else decides an outcome.

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

/// Who may decide it. Of a wait with no limit, ticket or select only the holder of its object's lock can:
/// that needs no atomic step. The others are raced for.
enum class deciders : std::uint8_t { lock_holder, anybody };

class completion;
struct waiter;

/// Until its owner is told, a claim's work function is *how the owner is told*; telling may then reuse the
/// work to resume the owner on an executor.
///
/// word_: an outcome, and for a wait that arms limits after it was queued
///   arming              its starter is still at work
///   arming + completed  decided and detached meanwhile: the starter goes on with the outcome itself
///   completed           told; or decided when its starter was done, and to be told
///   leaves              decided by a limit or a ticket, not under its object's lock: to be withdrawn too
class claim : public work {
 public:
  claim() noexcept = default;
  claim(const claim&) = delete;
  claim& operator=(const claim&) = delete;

  [[nodiscard]] outcome verdict() const noexcept {
    // relaxed: whoever acts on it was told, by something that synchronizes, or decides by compare-exchange
    return static_cast<outcome>(word_.load(std::memory_order_relaxed) & outcome_mask);
  }
  [[nodiscard]] bool decided() const noexcept { return verdict() != outcome::pending; }

  /// True: this call decided. To be followed by taking what was granted, or by withdrawing.
  bool decide(outcome wanted) noexcept { return decide_as(static_cast<std::uint32_t>(wanted)); }

  /// The same by a limit or a ticket. To be followed by arrive(); then, if its starter is done, by withdrawing. If not,
  /// its starter withdraws it.
  bool decide_to_leave(outcome wanted) noexcept { return decide_as(static_cast<std::uint32_t>(wanted) | leaves); }

  [[nodiscard]] bool leaving() const noexcept {
    return (word_.load(std::memory_order_relaxed) & leaves) != 0;  // relaxed: as verdict()
  }

  /// Before the wait can be seen by anyone.
  void raced_by(deciders who) noexcept { deciders_ = who; }
  [[nodiscard]] deciders raced_by() const noexcept { return deciders_; }

  /// Before the wait can be seen by anyone: its starter will call finish_arming.
  void start_arming() noexcept {
    arms_ = true;
    word_.store(arming, std::memory_order_relaxed);
  }

  /// By the starter. True: still undecided, the owner will be told. False: it was completed meanwhile.
  bool finish_arming() noexcept {
    // acq_rel: pairs with arrive(); the last of the two sees all that the other did
    return (word_.fetch_and(~arming, std::memory_order_acq_rel) & completed) == 0;
  }

  /// By its completion. True: tell the owner. False: its starter is still at work, and goes on with the outcome.
  bool arrive() noexcept {
    // relaxed: deciding has seen all that its starter did
    if (!arms_ || (word_.load(std::memory_order_relaxed) & completed) != 0) return true;
    // acq_rel: pairs with finish_arming()
    return (word_.fetch_or(completed, std::memory_order_acq_rel) & arming) == 0;
  }

  /// Once it is decided its owner can be told: nobody arms it, and nothing is left to do between.
  [[nodiscard]] bool is_plain() const noexcept { return !arms_ && !settles_; }

  /// What is left to do between the decision and the telling, by whoever lets the owner go on. True: tell the owner.
  /// False: there is more to wait for, and who completes that tells it.
  inline bool settle(completion& list) noexcept;

  /// Of several branches the one that decided.
  inline void won_by(waiter& branch) noexcept;

  /// By the owner, who was told, and waits again.
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
      word_.store(bits, std::memory_order_relaxed);  // relaxed: published by the lock, and by the telling
      return true;
    }
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    do {
      if ((seen & outcome_mask) != 0) return false;
      if ((seen & arming) == 0) bits |= completed;  // which saves arrive() its step
      // acq_rel: the winner sees the wait as its starter left it, and who loses to it sees what it did before
    } while (!word_.compare_exchange_weak(seen, seen | bits, std::memory_order_acq_rel, std::memory_order_relaxed));
    return true;
  }

  platform::atomic<std::uint32_t> word_{0};
  deciders deciders_ = deciders::lock_holder;
  bool arms_ = false;
  bool settles_ = false;
};

/// The claim of a wait that is not over when it is decided: a select withdraws its other branches, a condition locks
/// its mutex again.
class settling_claim : public claim {
 public:
  using settle_function = bool (*)(settling_claim&, completion&) noexcept;

  /// The branch that decided; null if none has (pending, or given up).
  [[nodiscard]] waiter* winner() const noexcept { return winner_; }

 protected:
  settling_claim() noexcept { settles_ = true; }
  ~settling_claim() = default;

  settle_function settle_ = nullptr;

 private:
  friend class claim;
  waiter* winner_ = nullptr;  // written by whoever decided, read by those it then lets go on
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
  word_.store(0, std::memory_order_relaxed);  // relaxed: nobody else sees it until it is queued again
  if (settles_) static_cast<settling_claim&>(*this).winner_ = nullptr;
}

}  // namespace weir::core
