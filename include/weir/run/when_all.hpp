#pragma once

// when_all: runs several tasks at once, in the context of the task that awaits it but each with an owner of its own,
// and gives all results when all have ended. If some threw, the first of them in the order given is rethrown.

#include <coroutine>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <weir/core/atomic.hpp>
#include <weir/core/context.hpp>
#include <weir/run/task.hpp>

namespace weir {

namespace core {

template <class T>
using value_or_monostate = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

template <class T>
value_or_monostate<T> take_value(task<T>& ended) {
  if constexpr (std::is_void_v<T>) {
    ended.take();
    return {};
  } else {
    return ended.take();
  }
}

/// Starts `count` tasks through start(i, context, end) and lets its awaiter go on, at the end of the last, when all
/// have ended.
template <class Start>
class [[nodiscard]] gathering {
 public:
  gathering(std::size_t count, Start start) : start_(std::move(start)), children_(count), left_(count + 1) {}

  void enter(const context& where) noexcept { where_ = context(where.executor, {}, where.stop); }

  bool await_ready() const noexcept { return children_.empty(); }

  bool await_suspend(std::coroutine_handle<> parent) {
    parent_ = parent;
    for (std::size_t i = 0; i < children_.size(); ++i) {
      auto& one = children_[i].emplace(*this, context(where_.executor, owner_id::make(), where_.stop));
      start_(i, one.where, one);
    }
    return !last();
  }

  void await_resume() const noexcept {}

 private:
  struct child : task_end {
    child(gathering& whole, context here) noexcept
        : task_end([](task_end& end) noexcept -> std::coroutine_handle<> {
            auto& gathered = static_cast<child&>(end).all;
            const auto parent = gathered.parent_;
            return gathered.last() ? parent : std::noop_coroutine();
          }),
          all(whole),
          where(std::move(here)) {}

    gathering& all;
    context where;
  };

  // acq_rel: the last one sees the results of all the others
  bool last() noexcept { return left_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

  Start start_;
  context where_;
  std::vector<std::optional<child>> children_;
  platform::atomic<std::size_t> left_;  // children that have not ended, and one for the starting of them
  std::coroutine_handle<> parent_;
};

}  // namespace core

/// A tuple of the results in the order given; std::monostate for a task<void>.
template <class... T>
task<std::tuple<core::value_or_monostate<T>...>> when_all(task<T>... tasks) {
  std::tuple<task<T>&...> all(tasks...);
  auto start = [&all](std::size_t index, core::context& where, core::task_end& end) noexcept {
    std::apply([&](auto&... each) { ((index-- == 0 ? each.start(where, end) : void()), ...); }, all);
  };
  core::gathering gathered(sizeof...(T), start);
  co_await gathered;
  co_return std::tuple<core::value_or_monostate<T>...>{core::take_value(tasks)...};  // braces: from left to right
}

/// The same for any number of tasks of one type: a vector of their results.
template <class T>
task<std::vector<core::value_or_monostate<T>>> when_all(std::vector<task<T>> tasks) {
  auto start = [&tasks](std::size_t index, core::context& where, core::task_end& end) noexcept {
    tasks[index].start(where, end);
  };
  core::gathering gathered(tasks.size(), start);
  co_await gathered;
  std::vector<core::value_or_monostate<T>> results;
  results.reserve(tasks.size());
  for (auto& each : tasks) results.push_back(core::take_value(each));
  co_return results;
}

}  // namespace weir
