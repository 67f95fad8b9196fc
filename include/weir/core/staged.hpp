#pragma once

// Staged operations have more to do when their wait is decided: a select withdraws its other branches; a condition
// locks its mutex again, checks its predicate, and may wait once more. In addition to the functions of
// core/operation.hpp such an operation has:
//
//   on_queued(node)                  called by the starter once the node is queued, before the owner can be notified:
//                                    condition unlocks its mutex here.
//   on_decided(node, winner, list)   called between the decision and the notification, by the party that decided.
//                                    `winner` is the waiter that was decided; null if the wait was given up. False: the
//                                    next stage has to wait too, and its completion runs node.wait.
//   on_resumed(node, verdict)        called by the owner, in its own context. True: it waits once more. An operation
//                                    that may return true declares `static constexpr bool repeats = true`.
//   cancel_stage(node)               called if the owner is being destroyed: withdraws the wait that on_decided began.
//                                    True if it was still queued.
//   outcome(node, verdict)           returns the outcome of all stages. give_back is called whatever this is.
//
// stages<Op> works for every operation, so that wait/wait_state.hpp has no special cases.

#include <concepts>

#include <weir/core/claim.hpp>
#include <weir/core/completion.hpp>
#include <weir/core/flat_loop.hpp>
#include <weir/core/operation.hpp>
#include <weir/core/waiter.hpp>

namespace weir::core {

template <class Op>
concept staged =
    waitable<Op> && requires(Op& op, typename Op::node& node, waiter* winner, completion& list, outcome verdict) {
      { op.on_queued(node) } noexcept;
      { op.on_decided(node, winner, list) } noexcept -> std::same_as<bool>;
      { op.on_resumed(node, verdict) } noexcept -> std::same_as<bool>;
      { op.cancel_stage(node) } noexcept -> std::same_as<bool>;
      { op.outcome(node, verdict) } noexcept -> std::same_as<outcome>;
    };

/// Belongs to an owner that cannot give up between two waits of one operation. An Asio handler can, by its slot.
struct never_withdrawn {
  bool operator()() const noexcept { return false; }
};

/// An operation of one stage: it is complete when it is decided.
template <class Op>
struct stages {
  using node = typename Op::node;
  using claim = core::claim;
  struct starting {};

  static constexpr bool several = false;
  static constexpr bool repeats = false;
  static_assert(!(
                    requires { &Op::on_queued; } || requires { &Op::on_decided; } || requires { &Op::on_resumed; } ||
                    requires { &Op::cancel_stage; }),
                "a staged operation has all five functions of core/staged.hpp, and all of them are noexcept");

  template <class Wait>
  static void begin(Wait&) noexcept {}
  template <class Wait, class Withdrawn>
  static bool wait_again(Wait&, work::function, Withdrawn) noexcept {
    return false;
  }
  static void on_queued(Op&, node&) noexcept {}
  static bool cancel_stage(Op&, node&) noexcept { return false; }
  static outcome outcome_of(const Op&, const node&, outcome verdict) noexcept { return verdict; }
};

template <staged Op>
struct stages<Op> {
  using node = typename Op::node;
  using claim = settling_claim;
  using starting = flat_loop::scope;  // waiters without an executor that on_queued grants resume after the start

  static constexpr bool several = true;
  static constexpr bool repeats = [] {
    if constexpr (requires { Op::repeats; }) {
      return Op::repeats;
    } else {
      return false;
    }
  }();

  template <class Wait>
  static void begin(Wait& wait) noexcept {
    wait.settle_ = [](settling_claim& decided, completion& list) noexcept {
      auto& self = static_cast<Wait&>(decided);
      return self.op_.on_decided(self.node_, decided.winner(), list);
    };
  }

  /// Called by the notified owner, in its own context. True: it waits again, will be notified by `notify`, and must not
  /// touch the wait. False: the outcome stands.
  template <class Wait, class Withdrawn>
  static bool wait_again([[maybe_unused]] Wait& wait, [[maybe_unused]] work::function notify,
                         [[maybe_unused]] Withdrawn withdrawn) noexcept {
    if constexpr (repeats) {
      wait.run_ = notify;
      for (wait.finish(); wait.op_.on_resumed(wait.node_, wait.verdict()); wait.finish()) {
        wait.reset();
        const bool cancelled = withdrawn() && wait.decide(outcome::cancelled);
        if (cancelled || wait.stopped() || wait.timed_out(wait.expired())) return false;
        if (wait.queue_up()) return true;
      }
    }
    return false;
  }

  static void on_queued(Op& op, node& queued) noexcept { op.on_queued(queued); }
  static bool cancel_stage(Op& op, node& settling) noexcept { return op.cancel_stage(settling); }
  static outcome outcome_of(const Op& op, const node& decided, outcome verdict) noexcept {
    return op.outcome(decided, verdict);
  }
};

}  // namespace weir::core
