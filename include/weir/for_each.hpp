#pragma once

// for_each: runs a task for each item of a range, at most `limit` at once.
//
// Who may call: any coroutine. Each item's task has an owner of its own and a stop token that follows the caller's.
// Order: tasks are started in the order of the range.
// Cancellation: for_each has none of its own; a stop request to the caller reaches the tasks through this_task(). The
// range, the function and its captures must outlive the tasks: await for_each to its end.
// Completions: the caller resumes in its own context, once every started task has ended and its frame is destroyed.

#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <ranges>
#include <type_traits>
#include <utility>

#include <weir/core/atomic.hpp>
#include <weir/core/held_executor.hpp>
#include <weir/pool.hpp>
#include <weir/run/task.hpp>
#include <weir/run/this_task.hpp>

namespace weir {

namespace core {

template <class T>
struct task_value {};
template <class T>
struct task_value<task<T>> {
  using type = T;
};

/// The value of fn(item), for the items of a range: the T of a task<T>.
template <class Range, class Fn>
using item_value = typename task_value<std::invoke_result_t<Fn&, std::ranges::range_reference_t<Range>>>::type;

template <class Fn, class Range>
concept task_function = std::ranges::input_range<Range> && requires { typename item_value<Range, Fn>; };

/// The first exception of several tasks.
class first_failure {
 public:
  explicit operator bool() const noexcept { return failed_.load(std::memory_order_relaxed); }  // relaxed: a hint
  void note(std::exception_ptr thrown) noexcept {
    // relaxed: rethrow() is called only after all tasks that could throw were waited for
    if (!failed_.exchange(true, std::memory_order_relaxed)) thrown_ = std::move(thrown);
  }
  /// Called when no task can call note() any more.
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  platform::atomic<bool> failed_{false};
  std::exception_ptr thrown_;
};

struct stop_passed_on {
  platform::stop_source* to;
  void operator()() const noexcept {
    auto kept = *to;  // a copy: stopping may destroy *to
    kept.request_stop();
  }
};

/// Runs one item's task, unless another has failed before it starts.
template <class T>
task<> noting(task<T> body, first_failure& failure) {
  if (failure) co_return;
  try {
    co_await std::move(body);
  } catch (...) {
    failure.note(std::current_exception());
  }
}

template <class Range, class Fn>
task<> each(held_executor where, Range range, std::size_t limit, Fn fn) {
  const auto self = co_await this_task();
  platform::stop_source stops;
  const platform::stop_callback<stop_passed_on> pass_on(self.stop, stop_passed_on{&stops});
  first_failure failure;
  pool running(where, limit, stops);
  try {
    for (auto at = std::ranges::begin(range); at != std::ranges::end(range) && !failure; ++at) {
      const auto detached = co_await running.submit(noting(std::invoke(fn, *at), failure));
    }
  } catch (...) {
    failure.note(std::current_exception());
  }
  co_await running.join();
  failure.rethrow();
}

}  // namespace core

/// Awaits fn(item), a task, for each item of the range, on the executor, at most `limit` at once. After an exception it
/// starts no more tasks, waits for the running ones, and rethrows the first exception. Throws std::invalid_argument at
/// the call if the limit is 0. An rvalue range is moved in, an lvalue is held by reference.
template <runs_tasks E, std::ranges::input_range Range, core::task_function<Range> Fn>
task<> for_each(E&& where, Range&& range, std::size_t limit, Fn fn) {
  pool::check_limit("weir::for_each", limit);
  return core::each(core::held_executor(std::forward<E>(where)), std::views::all(std::forward<Range>(range)), limit,
                    std::move(fn));
}

}  // namespace weir
