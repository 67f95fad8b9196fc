#pragma once

// The operation concept: what a synchronizer says of one thing that can be waited for. Whatever models it
// gets every way of waiting, every limit and a place in select, through weir::operation (wait/operation.hpp).
//
//   value_type               what success yields; void allowed
//   node                     what one wait stores: derives from core::waiter and adds what the queue must
//                            know of it. Moved while the wait has not started.
//   try_now(node)            asks: done if it can be decided at once, else not_ready. Never queues.
//   start(node, list)        done, queued, or lost. Others that it satisfies go into the list.
//   withdraw(node, list)     the claim was won elsewhere: unlink, then serve those behind. True if it was queued.
//   give_back(node)          a grant that can no longer be delivered: as if it had not been made. One whose effect
//   cannot be
//                            undone, as a push's, returns false: then the grant stands, and is reported as success.
//   take(node)               after a grant, once: the value, or a result<value_type> if success can still fail.
//
// Optional:
//   take_along()             for an operation that refers to something of its caller's: called when the wait will
//                            outlive the expression.
//   unused()                 it has failed, and its wait may live on (with a ticket): what it was given may go.
//   queued(node)             by the starter, once it is queued and before its owner can be told: what it lets go of.
//   settle(node, winner, list)  decided, by this waiter or (null) by a limit: what is left to do before the owner is
//                            told. False: there is more to wait for, and who completes that runs node.wait. Such an
//                            operation is also asked for its outcome(node, verdict), and give_back is called for every
//                            verdict.
//   step_back(node)          while settling: true, that wait was taken back.
//   again(node, verdict)     by the owner, in its own place, once it was told: true, it waits once more.
//
// All but take are noexcept, may be called from any thread, and call no code of the user's under a lock. A node with a
// member enter(context&) is told before try_now on whose behalf it waits.

#include <concepts>
#include <type_traits>
#include <utility>

#include <weir/core/completion.hpp>
#include <weir/core/result.hpp>
#include <weir/core/waiter.hpp>

namespace weir::core {

template <class Op>
concept waitable =
    std::move_constructible<Op> && std::derived_from<typename Op::node, waiter> &&
    std::move_constructible<typename Op::node> && requires(Op& op, typename Op::node& node, completion& list) {
      typename Op::value_type;
      { op.try_now(node) } noexcept -> std::same_as<answer>;
      { op.start(node, list) } noexcept -> std::same_as<answer>;
      { op.withdraw(node, list) } noexcept -> std::same_as<bool>;
      { op.give_back(node) } noexcept;
      op.take(node);
    };

/// False: it stands.
template <class Op>
bool given_back(Op& op, typename Op::node& granted) noexcept {
  if constexpr (std::is_void_v<decltype(op.give_back(granted))>) {
    op.give_back(granted);
    return true;
  } else {
    return op.give_back(granted);
  }
}

}  // namespace weir::core
