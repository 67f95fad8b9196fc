#pragma once

// The operation concept: what a synchronizer says about one thing that can be waited for. A type that models it gets
// every way of waiting, every limit and a place in select, through weir::operation (wait/operation.hpp).
//
//   value_type               what success yields; void allowed
//   node                     what one wait stores: derives from core::waiter and adds what the queue must know about
//                            it. It is moved only before the wait has started.
//   try_now(node)            done if the wait can be decided at once, else not_ready. Never queues.
//   start(node, list)        done, queued, or lost. Other waits that it completes go into the list.
//   withdraw(node, list)     the claim was won elsewhere: unlinks the node, then serves the waiters behind it. True if
//                            the node was queued.
//   give_back(node)          undoes a grant that cannot be delivered. Returns false if the grant cannot be undone, as
//                            that of a push: then the grant stands, and is reported as success. May return void.
//   take(node)               after a grant, once: the value, or a result<value_type> if success can still fail.
//
// Optional:
//   node.enter(context&)     called before try_now: on whose behalf the wait is.
//   take_along()             the wait will outlive the expression: arguments that are held by reference are moved in.
//   unused()                 the wait has failed. Arguments are released now; the operation lives as long as its
//   ticket.
//
// All but take are noexcept, may be called from any thread, and call no user code under a lock. An operation that is
// not over when it is decided models a second concept: core/staged.hpp.

#include <concepts>
#include <type_traits>
#include <utility>

#include <weir/core/completion.hpp>
#include <weir/core/context.hpp>
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

/// The one place that asks which optional members an operation has.
template <class Op>
struct operation_traits {
  using node = typename Op::node;
  using value_type = typename Op::value_type;

  static void enter(node& waiting, context& where) {
    if constexpr (requires { waiting.enter(where); }) waiting.enter(where);
  }
  static void take_along(Op& op) noexcept {
    if constexpr (requires { op.take_along(); }) op.take_along();
  }
  static void unused(Op& op) noexcept {
    if constexpr (requires { op.unused(); }) op.unused();
  }
  static bool give_back(Op& op, node& granted) noexcept {
    if constexpr (std::is_void_v<decltype(op.give_back(granted))>) {
      op.give_back(granted);
      return true;
    } else {
      return op.give_back(granted);
    }
  }
  static result<value_type> take(Op& op, node& granted) {
    if constexpr (std::is_same_v<decltype(op.take(granted)), result<value_type>>) {
      return op.take(granted);
    } else if constexpr (std::is_void_v<value_type>) {
      op.take(granted);
      return {};
    } else {
      return result<value_type>(std::in_place, op.take(granted));
    }
  }
};

}  // namespace weir::core
