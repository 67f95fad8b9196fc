#pragma once

// map: for_each that collects what the tasks return, in the order of the range.

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include <weir/core/held_executor.hpp>
#include <weir/for_each.hpp>
#include <weir/pool.hpp>
#include <weir/run/task.hpp>

namespace weir {

namespace core {

template <class T>
task<> keeping(task<T> body, std::optional<T>& place) {
  place.emplace(co_await std::move(body));
}

template <class Range, class Fn, class T = item_value<Range, Fn>>
task<std::vector<T>> mapped(held_executor where, Range range, std::size_t limit, Fn fn) {
  std::deque<std::optional<T>> made;  // a deque: its elements stay in place while it grows
  auto keep = [&]<class Item>(Item&& item) {
    auto body = std::invoke(fn, std::forward<Item>(item));
    return keeping(std::move(body), made.emplace_back());
  };
  co_await each(std::move(where), std::move(range), limit, keep);
  std::vector<T> results;
  results.reserve(made.size());
  for (auto& each : made) results.push_back(std::move(*each));
  co_return results;
}

}  // namespace core

/// Awaits fn(item), a task<T>, for each item of the range, as for_each does, and returns a std::vector<T> in the order
/// of the range.
template <runs_tasks E, std::ranges::input_range Range, core::task_function<Range> Fn>
auto map(E&& where, Range&& range, std::size_t limit, Fn fn) {
  static_assert(!std::is_void_v<core::item_value<Range, Fn>>, "map keeps what fn(item) gives: of task<> use for_each");
  pool::check_limit("weir::map", limit);
  return core::mapped(core::held_executor(std::forward<E>(where)), std::views::all(std::forward<Range>(range)), limit,
                      std::move(fn));
}

}  // namespace weir
