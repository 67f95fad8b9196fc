#pragma once

// An attachment links a granted wait to its object if the owner still needs the object to use the grant: the object may
// be destroyed first. It lasts from the grant until the owner has entered and left the object, or until the destructor
// of the object has detached it.

#include <cstdint>

#include <weir/core/atomic.hpp>
#include <weir/core/ring.hpp>

namespace weir::core {

/// state_:
///   detached   in no list; the owner does not touch the object
///   attached   the owner may enter, the destructor may detach: the first to change the state decides
///   entered    the owner works on the object, and runs no user code before it leaves: the destructor waits for it
class attachment {
 public:
  attachment() noexcept = default;
  attachment(const attachment&) noexcept {}  // copied only before the wait starts, while detached
  attachment& operator=(const attachment&) = delete;

  /// Called by the owner. True: the object exists until attachments::remove(). False: the object is gone, or the wait
  /// was never attached.
  bool enter() noexcept { return leave_state(state::entered); }

  // Links of the list in `attachments`: guarded by the lock of the object.
  attachment* next = nullptr;
  attachment* prev = nullptr;

 private:
  friend class attachments;

  enum class state : std::uint8_t { detached, attached, entered };

  bool leave_state(state wanted) noexcept {
    state expected = state::attached;
    // acq_rel: the owner that enters sees the object as the grant left it; if the destructor detaches it, what the
    // owner did before is ordered before the end of the object
    return state_.compare_exchange_strong(expected, wanted, std::memory_order_acq_rel, std::memory_order_relaxed);
  }

  platform::atomic<state> state_{state::detached};
};

/// The attachments of one object. Every member needs the lock of the object.
class attachments {
 public:
  /// Called with the grant.
  void add(attachment& granted) noexcept {
    granted.state_.store(attachment::state::attached, std::memory_order_relaxed);  // relaxed: published by the grant
    all_.push_back(granted);
  }

  /// Called by an owner that has entered.
  void remove(attachment& entered) noexcept {
    all_.remove(entered);
    // relaxed: from now on only its owner uses it
    entered.state_.store(attachment::state::detached, std::memory_order_relaxed);
  }

  /// Called by the destructor. False: an owner has entered and has not left yet.
  bool detach_all() noexcept {
    ring<attachment> entered;
    // Unlinking precedes detaching: the owner may destroy a detached attachment.
    while (attachment* const each = all_.pop_front()) {
      if (!each->leave_state(attachment::state::detached)) entered.push_back(*each);
    }
    all_.append(entered);
    return all_.empty();
  }

 private:
  ring<attachment> all_;
};

}  // namespace weir::core
