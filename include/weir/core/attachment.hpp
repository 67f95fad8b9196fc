#pragma once

// A granted wait that its object cannot forget yet: what the owner does with the grant still needs the object, which
// may be destroyed first. Such a wait is attached to its object from the grant until the owner has entered and left, or
// the destructor of the object has detached it.

#include <cstdint>

#include <weir/core/atomic.hpp>
#include <weir/core/ring.hpp>

namespace weir::core {

/// state_:
///   detached   in no list; the object is not touched
///   attached   the owner may enter, the destructor may detach: the first to move it decides
///   entered    the owner is at work on the object, and runs no user code before it leaves: the destructor waits for it
class attachment {
 public:
  attachment() noexcept = default;
  attachment(const attachment&) noexcept {}  // moved only before it waits
  attachment& operator=(const attachment&) = delete;

  /// By the owner. True: the object exists until attachments::remove(). False: it is gone, or never was attached.
  bool enter() noexcept { return leave_state(state::entered); }

  attachment* next = nullptr;  // for attachments, with what follows: under the lock of the object
  attachment* prev = nullptr;

 private:
  friend class attachments;

  enum class state : std::uint8_t { detached, attached, entered };

  bool leave_state(state wanted) noexcept {
    state expected = state::attached;
    // acq_rel: the owner that enters sees the object as the grant has left it; what the owner did before is ordered
    // before the end of the object, if the destructor detaches it
    return state_.compare_exchange_strong(expected, wanted, std::memory_order_acq_rel, std::memory_order_relaxed);
  }

  platform::atomic<state> state_{state::detached};
};

/// Those of one object. Every member needs the lock of the object.
class attachments {
 public:
  /// With the grant.
  void add(attachment& granted) noexcept {
    granted.state_.store(attachment::state::attached, std::memory_order_relaxed);  // relaxed: published by the grant
    all_.push_back(granted);
  }

  /// By an owner that has entered.
  void remove(attachment& entered) noexcept {
    all_.remove(entered);
    entered.state_.store(attachment::state::detached,
                         std::memory_order_relaxed);  // relaxed: the owner's own from now on
  }

  /// By the destructor. False: an owner is still inside.
  bool detach_all() noexcept {
    ring<attachment> entered;
    while (attachment* const each = all_.pop_front()) {  // before it is detached: from then on its owner may destroy it
      if (!each->leave_state(attachment::state::detached)) entered.push_back(*each);
    }
    all_.append(entered);
    return all_.empty();
  }

 private:
  ring<attachment> all_;
};

}  // namespace weir::core
