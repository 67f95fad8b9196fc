#pragma once

// What pool, for_each and map run on: an executor, by reference, one that is copied, or the executor of a context.

#include <concepts>
#include <memory>
#include <utility>

#include <weir/core/executor.hpp>
#include <weir/core/front.hpp>

namespace weir {

namespace core {

/// An executor that is copied instead of being referred to: specialized by who knows it, with a `type` that is made
/// from it, and the `executor` of weir's that this is.
template <class E>
struct adapted {};

/// An executor, and if it is one that is copied the copy.
class held_executor {
 public:
  template <executor E>
  explicit held_executor(E& referred) noexcept : where_(referred) {}
  template <class E>
    requires requires { typename adapted<E>::type; }
  explicit held_executor(const E& copied)
      : held_executor(std::make_shared<typename adapted<E>::type>(copied),
                      std::in_place_type<typename adapted<E>::executor>) {}
  template <front_context C>
  explicit held_executor(C& context) : held_executor(as_executor(front_tag(), context)) {}

  [[nodiscard]] executor_ref where() const noexcept { return where_; }

 private:
  template <class Copy, class Executor>
  held_executor(std::shared_ptr<Copy> copy, std::in_place_type_t<Executor>) noexcept
      : where_(static_cast<Executor&>(*copy)), copy_(std::move(copy)) {}

  executor_ref where_;
  std::shared_ptr<void> copy_;
};

}  // namespace core

/// What runs tasks: an executor, by reference, one that is copied (Asio's), or an execution context (Asio's).
template <class E>
concept runs_tasks = std::constructible_from<core::held_executor, E>;

}  // namespace weir
