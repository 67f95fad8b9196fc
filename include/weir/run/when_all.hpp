#pragma once

// when_all: runs several tasks concurrently, with the executor and stop token of the task that awaits it but each with
// an owner of its own, and returns all results once all have ended. If some threw, the exception of the first of them
// in argument order is rethrown.

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
#include <weir/core/task_end.hpp>
#include <weir/run/task.hpp>

namespace weir {

namespace core {

template <class T>
using value_or_monostate = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

/// The state that concurrent children share with their parent. It outlives them: they may be destroyed unfinished.
class gathering {
 public:
  explicit gathering(std::size_t count) : children_(count), left_(count + 1) {}

  /// Starts each child through start(i, context, end); the parent resumes when all have ended.
  template <class Start>
  class [[nodiscard]] running {
   public:
    running(gathering& all, Start& start) noexcept : all_(all), start_(start) {}

    void enter(context& where) noexcept { all_.where_ = &where; }
    bool await_ready() const noexcept { return all_.children_.empty(); }
    bool await_suspend(std::coroutine_handle<> parent) noexcept {
      all_.parent_ = parent;
      for (std::size_t i = 0; i < all_.children_.size(); ++i) {
        auto& one = all_.children_[i].emplace(all_);
        const running_task started(&one.where);
        start_(i, one.where, one);
      }
      return !all_.last();
    }
    void await_resume() const noexcept {}

   private:
    gathering& all_;
    Start& start_;
  };

  /// Returns the value of child `index`, the task `ended`, or rethrows its exception. Called after all have ended.
  template <class T>
  value_or_monostate<T> take(std::size_t index, task<T>& ended) {
    children_[index]->rethrow_failure();
    if constexpr (std::is_void_v<T>) {
      return {};
    } else {
      return ended.take();
    }
  }

 private:
  struct child final : task_outcome {
    explicit child(gathering& whole) noexcept : all(whole) {
      if (all.where_ == nullptr) return;
      where.executor = all.where_->executor;
      where.stop = all.where_->stop;
      where.away = all.where_->away;
    }

    std::coroutine_handle<> ended() noexcept override {
      const bool away = where.away;
      if (!all.last()) return std::noop_coroutine();
      if (all.where_ != nullptr) all.where_->away = away;  // the parent resumes where this child is
      const running_task resumed(all.where_);
      all.parent_.resume();
      return std::noop_coroutine();
    }

    gathering& all;
    context where{{}, owner_id::make(), {}};
  };

  // acq_rel: the last caller sees the results of all the others
  bool last() noexcept { return left_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

  context* where_ = nullptr;
  std::vector<std::optional<child>> children_;
  platform::atomic<std::size_t> left_;  // children that have not ended, and 1 until all have been started
  std::coroutine_handle<> parent_;
};

}  // namespace core

/// Returns a tuple of the results in argument order; std::monostate for a task<void>.
template <class... T>
task<std::tuple<core::value_or_monostate<T>...>> when_all(task<T>... tasks) {
  core::gathering gathered(sizeof...(T));
  std::tuple<task<T>...> all(std::move(tasks)...);
  auto start = [&all](std::size_t index, core::context& where, core::task_end& end) noexcept {
    std::apply([&](auto&... each) { ((index-- == 0 ? each.start(where, end) : void()), ...); }, all);
  };
  core::gathering::running run(gathered, start);
  co_await run;
  co_return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple<core::value_or_monostate<T>...>{gathered.take(I, std::get<I>(all))...};  // from left to right
  }(std::index_sequence_for<T...>());
}

/// Returns a vector of the results of any number of tasks of one type.
template <class T>
task<std::vector<core::value_or_monostate<T>>> when_all(std::vector<task<T>> tasks) {
  core::gathering gathered(tasks.size());
  auto all = std::move(tasks);
  auto start = [&all](std::size_t index, core::context& where, core::task_end& end) noexcept {
    all[index].start(where, end);
  };
  core::gathering::running run(gathered, start);
  co_await run;
  std::vector<core::value_or_monostate<T>> results;
  results.reserve(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) results.push_back(gathered.take(i, all[i]));
  co_return results;
}

}  // namespace weir
