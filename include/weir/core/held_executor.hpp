#pragma once

// held_executor: the executor that pool, for_each and map run on. It refers to an executor, or keeps a copy (Asio's).

#include <concepts>
#include <memory>
#include <utility>

#include <weir/core/executor.hpp>
#include <weir/core/front.hpp>

namespace weir {

namespace core {

/// Customization point: specialized for executors that are copied, not referred to. `type` is constructed from an E and
/// stored; `executor` is the weir executor that it is or derives from.
template <class E>
struct adapted {};

/// A reference to an executor, with the copy that it refers to if E is copied.
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

/// A type that tasks can run on: an executor (by reference), an Asio executor (copied), or an Asio execution context.
template <class E>
concept runs_tasks = std::constructible_from<core::held_executor, E>;

}  // namespace weir
