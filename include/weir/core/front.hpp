#pragma once

// How a front (Asio's) adds to what is below it, which knows nothing of it: functions that are found by this argument.
//   initiate(front, operation, token)   starts an operation in the way of a completion token
//   refuse(front, operation)            does not compile, and says which tokens and handlers the operation accepts
//   as_awaitable(front, x)              what to co_await for an x that is none by itself
//   as_executor(front, x)               the executor of an x that is none by itself: an execution context
//   as_task(front, x)                   what can be started as a task can, and does what x would

#include <utility>

namespace weir::core {

struct front_tag {};

template <class X>
concept front_awaitable = requires(X&& x) { as_awaitable(front_tag(), std::forward<X>(x)); };

template <class X>
concept front_context = requires(X& x) { as_executor(front_tag(), x); };

template <class X>
concept front_task = requires(X&& x) { as_task(front_tag(), std::forward<X>(x)); };

template <class Token, class Operation>
concept completion_token = requires(Operation&& described, Token&& token) {
  initiate(front_tag(), std::move(described), std::forward<Token>(token));
};

/// Some front is included, which knows better than this layer why a token does not fit.
template <class Operation>
concept front_refuses = requires(Operation&& described) { refuse(front_tag(), std::move(described)); };

}  // namespace weir::core
