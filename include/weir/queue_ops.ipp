// The operations of queue<T>, and the calls that return them. Included by queue.hpp.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <exception>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include <weir/core/operation.hpp>
#include <weir/core/result.hpp>
#include <weir/wait/operation.hpp>

namespace weir {

/// Item is T, or T&: a referenced item stays where it is until it is accepted.
template <class T>
template <class Item>
class queue<T>::push_op {
 public:
  using value_type = void;
  using node = push_node;

  template <class U>
  push_op(queue& into, U&& item) : queue_(&into), item_(std::forward<U>(item)) {}

  core::answer try_now(node& asking) noexcept {
    return push(asking, [](locked&) noexcept { return core::answer::not_ready; });
  }

  core::answer start(node& starting, core::completion&) noexcept {
    return push(starting, [&](locked& lock) noexcept { return queue_->enqueue(lock, starting); });
  }

  bool withdraw(node& queued, core::completion&) noexcept {
    locked lock(*queue_);
    return queue_->unlink(lock, queued);  // I1: the queue is full, so those behind still have to wait
  }

  bool give_back(node&) noexcept { return false; }  // the item was accepted and may have been popped

  result<> take(node& accepted) {
    if (accepted.no_memory) return result<>::failure(accepted.no_memory);
    return {};
  }

 private:
  template <class Wait>
  core::answer push(node& pushing, Wait wait) noexcept {
    pushing.item = &item_;
    const auto claim = [&](core::outcome verdict) noexcept { return pushing.decide(verdict); };
    try {
      return queue_->push_item(*pushing.item, claim, wait);
    } catch (...) {  // the item is where it was
      pushing.no_memory = std::current_exception();
      return pushing.decide(core::outcome::granted);
    }
  }

  queue* queue_;
  Item item_;
};

/// Value is std::optional<T>, or std::vector<T> of at most `most` items.
template <class T>
template <class Value>
class queue<T>::pop_op {
  static constexpr bool many = !std::is_same_v<Value, std::optional<T>>;

 public:
  using value_type = Value;
  using node = std::conditional_t<many, many_node, pop_node>;

  explicit pop_op(queue& from, std::size_t most = 1) noexcept : queue_(&from), most_(most) {}

  core::answer try_now(node& asking) noexcept {
    return queue_->pop_item(asking, [](locked&) noexcept { return core::answer::not_ready; });
  }

  core::answer start(node& starting, core::completion&) noexcept {
    return queue_->pop_item(starting, [&](locked& lock) noexcept { return queue_->enqueue(lock, starting); });
  }

  bool withdraw(node& queued, core::completion&) noexcept {
    locked lock(*queue_);
    return queue_->unlink(lock, queued);  // I1: the queue is empty, so those behind still have to wait
  }

  bool give_back(node& granted) noexcept {
    if (!granted.item) return true;
    if constexpr (many) {
      if (!granted.attached.enter()) return false;  // the queue was destroyed: the item has no other place
      queue_->give_back(*granted.item, granted.number, &granted.attached);
    } else {
      queue_->give_back(*granted.item, granted.number);
    }
    return true;
  }

  Value take(node& granted) {
    if constexpr (many) {
      return take_many(granted);
    } else {
      return std::move(granted.item);
    }
  }

 private:
  /// Takes the granted item, and further ones if the queue still exists.
  Value take_many(node& granted) {
    Value all;
    if (!granted.item) return all;
    const bool exists = granted.attached.enter();
    try {
      all.reserve(exists ? std::min(most_, queue_->size() + 1) : 1);
    } catch (...) {
      if (exists) queue_->give_back(*granted.item, granted.number, &granted.attached);
      throw;
    }
    all.push_back(std::move(*granted.item));
    if (exists) queue_->take_more(all, std::min(most_, all.capacity()), granted.attached);
    return all;
  }

  queue* queue_;
  std::size_t most_;
};

template <class T>
auto queue<T>::push_from(T& item) noexcept {
  return operation<push_op<T&>>(push_op<T&>(*this, item));
}

template <class T>
template <class U>
  requires std::constructible_from<T, U>
auto queue<T>::push(U&& item) {
  return operation<push_op<T>>(push_op<T>(*this, std::forward<U>(item)));
}

template <class T>
template <class U>
  requires std::constructible_from<T, U>
bool queue<T>::try_push(U&& item) {
  if constexpr (std::is_same_v<U, T>) {
    bool taken = false;
    push_item(
        item,
        [&](core::outcome verdict) noexcept {
          taken = verdict == core::outcome::granted;
          return core::answer::done;
        },
        [](locked&) noexcept { return core::answer::not_ready; });
    return taken;
  } else {
    if constexpr (!std::is_lvalue_reference_v<U> && !std::is_trivially_copyable_v<U>) {
      // Converting the item would consume it.
      if (closed() || (policy_ == when_full::wait && size() >= capacity_)) return false;
    }
    return try_push(T(std::forward<U>(item)));
  }
}

template <class T>
auto queue<T>::pop() {
  return operation<pop_op<std::optional<T>>>(pop_op<std::optional<T>>(*this));
}

template <class T>
auto queue<T>::pop_many(std::size_t most) {
  if (most == 0) throw std::invalid_argument("weir::queue::pop_many(0): at least one item is waited for");
  return operation<pop_op<std::vector<T>>>(pop_op<std::vector<T>>(*this, most));
}

}  // namespace weir
