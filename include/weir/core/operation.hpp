#pragma once

// The operation concept: how a synchronizer describes one kind of wait. A type that models it has every way of waiting
// and every limit, and can be a branch of select, through weir::operation (wait/operation.hpp).
//
//   value_type               the type that success yields; may be void
//   node                     stores one wait: derives from core::waiter and adds what the queue must know about it. It
//                            is moved only before the wait has started.
//   try_now(node)            returns done if it can decide the wait at once, else not_ready. Never queues.
//   start(node, list)        decides or queues the wait; returns done, queued or lost. Adds other waits that it
//                            completes to the list.
//   withdraw(node, list)     unlinks a node whose wait was decided elsewhere, then serves the waiters behind it. True:
//                            the node was queued.
//   give_back(node)          undoes a grant that cannot be delivered. False if the grant cannot be undone, as that of a
//                            push: then it stands and is reported as success. May return void.
//   take(node)               called once after a grant; returns the value, or a result<value_type> if taking can fail.
//
// Optional:
//   node.enter(context&)     called before try_now with the context of the caller.
//   take_along()             called if the wait will outlive the expression: moves in arguments held by reference.
//   unused()                 called if the wait has failed: releases arguments, since a ticket may keep the operation.
//
// All but take are noexcept, may be called from any thread, and call no user code under a lock. An operation with more
// to do between its decision and its completion models a second concept: core/staged.hpp.

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

/// The only place that detects the optional members of an operation.
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
