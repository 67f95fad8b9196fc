#pragma once

// A front (the Asio integration) extends the layers below it, which do not know it: they call these functions, which
// are found by argument-dependent lookup through front_tag.
//   initiate(front, operation, token)   starts an operation with a completion token
//   refuse(front, operation)            does not compile, and states which tokens and handlers the operation accepts
//   as_awaitable(front, x)              returns what to co_await for an x that is not awaitable itself
//   as_executor(front, x)               returns the executor of an execution context x
//   as_task(front, x)                   returns an object that starts like a task and does what x would do

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

/// True if a front is included: it can explain better than this layer why a token does not fit.
template <class Operation>
concept front_refuses = requires(Operation&& described) { refuse(front_tag(), std::move(described)); };

}  // namespace weir::core
