#pragma once

// queue<T>: items from those who make them to those who use them, with back-pressure, and an end.
//
// Who may call: any member from any thread at any time. The destructor may race tickets, timers and stop requests, but
// no member call. Order: items leave in the order in which they came; whoever waits to push, or to pop, is served in
// the order of coming. An item goes directly to the first waiting popper. Cancellation: a pop that gave up has taken no
// item; of a push that gave up the item is destroyed with the operation, or untouched (push_from). One that was granted
// cannot be cancelled; an item that could not be delivered goes back to its place at the front. Completions: a waiter
// goes on where it belongs (its executor, its own thread, or the flat loop of the thread that pushed or popped), after
// that call has done all its work. No item is destroyed under the lock; it is moved there, and the moved-from object is
// destroyed there. So the move constructor and the destructor of a moved-from item must not call into weir or block.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <exception>
#include <limits>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <weir/core/atomic.hpp>
#include <weir/core/attachment.hpp>
#include <weir/core/item_ring.hpp>
#include <weir/core/operation.hpp>
#include <weir/core/synchronizer.hpp>
#include <weir/wait/operation.hpp>

namespace weir {

/// state: locked, queued, closed (core/synchronizer.hpp); all else is under the lock.
///
/// I1  Undecided poppers are queued only while it is empty and open, undecided pushers only while it is full and
///     open. So all that are undecided are of one kind.
/// I2  There are at most capacity items, save for those that were given back.
/// I3  numbers_ are those of the first items, which were given back: ascending. Items are numbered as they are popped
///     for the first time, so those behind have greater numbers: the next is items_.first() + numbers_.size().
template <class T>
class queue : private core::synchronizer {  // private: its close() is not that of the base
  static_assert(std::is_nothrow_move_constructible_v<T>,
                "the items of a weir::queue are moved under its lock: their move constructor must be noexcept");

 public:
  /// The type of its items.
  using value_type = T;

  /// The capacity of a queue whose push never waits.
  static constexpr std::size_t unbounded = std::numeric_limits<std::size_t>::max();

  /// What a push into a full queue does: waits, or takes the oldest item's place, or is dropped itself.
  enum class when_full { wait, drop_oldest, drop_newest };

  /// Throws std::invalid_argument if the capacity is 0.
  explicit queue(std::size_t capacity = unbounded, when_full policy = when_full::wait)
      : synchronizer(0), capacity_(checked(capacity)), policy_(policy) {}

  /// Closes: whoever waits to push gets errc::closed, whoever waits to pop gets nothing.
  ~queue() {
    close();
    shut();
    for (platform::spinner spin;; spin.step()) {
      locked lock(*this);
      if (attached_.detach_all()) return;
    }
  }

  template <class Value>
  class pop_op;
  template <class Item>
  class push_op;

  /// Waits while it is full. Fails with errc::closed. The item is constructed here, inside the operation, and is
  /// destroyed with it if the push fails.
  template <class U = T>
    requires std::constructible_from<T, U>
  auto push(U&& item);

  /// The same, but moves from `item` only if it is accepted: until the wait has completed, `item` must exist.
  auto push_from(T& item) noexcept;

  /// False: not taken (full, or closed), and the item is untouched; one of another type than T may have been converted
  /// if the queue became full at the same time.
  template <class U = T>
    requires std::constructible_from<T, U>
  bool try_push(U&& item);

  /// Waits while it is empty. Nothing: closed and drained.
  auto pop();

  /// The same, without waiting. Nothing: empty.
  std::optional<T> try_pop() {
    std::optional<T> taken;
    core::completion done;
    locked lock(*this);
    if (!items_.empty()) take_front(lock, taken, done);
    return taken;
  }

  /// Waits while it is empty, then gives at least one, at most `most`. None: closed and drained. Throws
  /// std::invalid_argument if `most` is 0.
  auto pop_many(std::size_t most);

  /// In the way of a completion token of Asio's, with <weir/asio.hpp> or <weir/boost_asio.hpp>.
  template <class U, class Token>
  decltype(auto) async_push(U&& item, Token&& token) {
    return push(std::forward<U>(item))(std::forward<Token>(token));
  }
  template <class Token>
  decltype(auto) async_push_from(T& item, Token&& token) {
    return push_from(item)(std::forward<Token>(token));
  }
  template <class Token>
  decltype(auto) async_pop(Token&& token) {
    return pop()(std::forward<Token>(token));
  }
  template <class Token>
  decltype(auto) async_pop_many(std::size_t most, Token&& token) {
    return pop_many(most)(std::forward<Token>(token));
  }

  /// As for every synchronizer.
  using synchronizer::cancel_all;
  using synchronizer::closed;
  using synchronizer::waiting;

  /// No more pushes; what is inside is still popped.
  void close() noexcept {
    core::completion done;
    locked lock(*this);
    close(lock, done);
  }

  /// Closes, and drops what is inside. How many that were.
  std::size_t stop() noexcept {
    std::optional<core::item_ring<T>> dropped;  // declared before the lock: destroyed after it
    core::completion done;
    locked lock(*this);
    close(lock, done);
    dropped.emplace(std::move(items_));
    for (; !numbers_.empty(); numbers_.drop_front()) items_.skip();  // I3
    count_dropped(dropped->size());
    note_size(lock);
    return dropped->size();
  }

  /// Readings, no lock.
  [[nodiscard]] std::size_t size() const noexcept {
    return size_.load(std::memory_order_relaxed);
  }  // relaxed: a reading
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  /// Items that were taken in and then dropped: by a drop policy, or by stop().
  [[nodiscard]] std::size_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

  /// Readings, like waiting(): by I1 those that wait are of one kind.
  [[nodiscard]] std::size_t waiting_push() const noexcept { return empty() ? 0 : waiting(); }
  [[nodiscard]] std::size_t waiting_pop() const noexcept { return empty() ? waiting() : 0; }

  /// For tests: what holds between any two calls.
  [[nodiscard]] bool check_invariants() noexcept {
    locked lock(*this);
    bool ascending = numbers_.size() <= items_.size() &&
                     (numbers_.empty() || numbers_[numbers_.size() - 1] < items_.first() + numbers_.size());
    for (std::size_t i = 1; i < numbers_.size(); ++i) ascending = ascending && numbers_[i - 1] < numbers_[i];
    return (!anybody_waits(lock) || (!lock.closed() && (items_.empty() || is_full())))  // I1
           && ascending                                                                 // I3
           && size() == items_.size();
  }

 private:
  struct push_node : core::waiter {
    T* item = nullptr;             // where the item is until it is taken
    std::exception_ptr no_memory;  // there was none for it: the item is where it was
  };
  struct pop_node : core::waiter {
    explicit pop_node(bool for_more = false) noexcept : many(for_more) {}  // NOLINT: `number` comes with the item
    pop_node(pop_node&& from) noexcept : many(from.many) {}  // NOLINT: moved only while nothing has started

    const bool many;        // a many_node
    std::size_t number;     // of the item (I3)
    std::optional<T> item;  // nothing after a grant: closed and drained
  };
  /// Of pop_many, which comes for more once it has been granted an item.
  struct many_node : pop_node {
    many_node() noexcept : pop_node(true) {}
    core::attachment attached;
  };

  static std::size_t checked(std::size_t capacity) {
    if (capacity == 0) throw std::invalid_argument("weir::queue(0): a queue of capacity 0 could never hold an item");
    return capacity;
  }

  [[nodiscard]] bool is_full() const noexcept { return items_.size() >= capacity_; }

  void note_size(locked&) noexcept { size_.store(items_.size(), std::memory_order_relaxed); }  // relaxed: a reading

  void count_dropped(std::size_t more) noexcept {
    // relaxed: written under the lock, and a reading
    dropped_.store(dropped_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }

  /// A push. `claim(outcome)` decides it, before anything is moved; `wait(lock)` answers for one that has to wait.
  /// Memory is made under no lock: throws std::bad_alloc, and then nothing has happened.
  template <class Claim, class Wait>
  core::answer push_item(T& item, Claim claim, Wait wait) {
    std::optional<T> unwanted;  // declared before the lock: destroyed after it
    typename core::item_ring<T>::block larger;
    for (;;) {
      std::size_t wanted = 0;
      {
        core::completion done;
        locked lock(*this);
        if (!items_.has_room() && larger.size() > items_.size()) items_.move_into(larger);
        if (lock.closed()) return claim(core::outcome::closed);
        if (is_full() && policy_ == when_full::wait) return wait(lock);
        if (is_full() || items_.has_room()) {
          const core::answer decided = claim(core::outcome::granted);
          if (decided == core::answer::done) put(lock, item, unwanted, done);
          return decided;
        }
        wanted = items_.next_size(capacity_);
      }
      larger = typename core::item_ring<T>::block(wanted);
    }
  }

  /// An item that is accepted: to the first popper that waits, else behind the others. Who has to make way for it, or
  /// it itself, comes out in `unwanted`.
  void put(locked& lock, T& item, std::optional<T>& unwanted, core::completion& done) noexcept {
    if (items_.empty() && hand_over(lock, item, items_.first(), done)) {
      items_.skip();
      return;
    }
    if (is_full() && !make_room(item, unwanted)) return;
    items_.push_back(std::move(item));
    note_size(lock);
  }

  /// By the policy. False: there is none for the item, which comes out itself.
  [[gnu::noinline]] bool make_room(T& item, std::optional<T>& unwanted) noexcept {
    count_dropped(1);
    if (policy_ == when_full::drop_newest) {
      unwanted.emplace(std::move(item));
      return false;
    }
    std::ignore = pop_front(unwanted);
    return true;
  }

  /// To the first popper that waits, if one does.
  bool hand_over(locked& lock, T& item, std::size_t number, core::completion& done) noexcept {
    bool taken = false;
    serve<pop_node>(
        lock, done, [&] { return !taken; }, anyone,
        [&](pop_node& first) {
          first.item.emplace(std::move(item));
          first.number = number;
          if (first.many) attached_.add(static_cast<many_node&>(first).attached);
          taken = true;
        });
    return taken;
  }

  /// Returns its number.
  std::size_t take_front(locked& lock, std::optional<T>& taken, core::completion& done) noexcept {
    const std::size_t number = pop_front(taken);
    serve_pushers(lock, done);
    note_size(lock);
    return number;
  }

  /// I3. Returns its number.
  std::size_t pop_front(std::optional<T>& taken) noexcept {
    std::size_t number = items_.first();
    taken.emplace(std::move(items_.front()));
    items_.drop_front();
    if (!numbers_.empty()) {
      number = numbers_.front();
      numbers_.drop_front();
    }
    return number;
  }

  /// For a pop_many that has been granted one item and has entered: what else is there.
  void take_more(std::vector<T>& all, std::size_t most, core::attachment& entered) noexcept {
    std::optional<T> taken;
    core::completion done;
    locked lock(*this);
    attached_.remove(entered);
    while (all.size() < most && !items_.empty()) {
      std::ignore = pop_front(taken);
      all.push_back(std::move(*taken));
      serve_pushers(lock, done);
    }
    note_size(lock);
  }

  /// I1, after an item left. There is memory: they wait only while it is full.
  void serve_pushers(locked& lock, core::completion& done) noexcept {
    serve<push_node>(
        lock, done, [&] { return !is_full(); }, anyone,
        [&](push_node& first) { items_.push_back(std::move(*first.item)); });
  }

  /// A pop. `wait` as for push_item.
  template <class Node, class Wait>
  [[gnu::always_inline]] core::answer pop_item(Node& popping, Wait wait) noexcept {
    core::completion done;
    locked lock(*this);
    if (items_.empty() && !lock.closed()) return wait(lock);
    const core::answer decided = popping.decide(core::outcome::granted);
    if (decided == core::answer::done && !items_.empty()) {
      popping.number = take_front(lock, popping.item, done);
      if constexpr (std::is_same_v<Node, many_node>) attached_.add(popping.attached);
    }
    return decided;
  }

  /// By I1 whoever waits on an empty queue waits to pop, else to push.
  void close(locked& lock, core::completion& done) noexcept {
    lock.state |= closed_bit;
    complete_all(lock, items_.empty() ? core::outcome::granted : core::outcome::closed, done);
  }

  /// An item that could not be delivered: to the next that waits for one, else to its place at the front (I3).
  /// `entered` is the attachment of a pop_many, which ends here; null of a pop.
  void give_back(T& item, std::size_t number, core::attachment* entered = nullptr) noexcept {
    typename core::item_ring<T>::block more_items;
    core::item_ring<std::size_t>::block more_numbers;
    for (;;) {
      std::size_t items_wanted = 0;
      std::size_t numbers_wanted = 0;
      {
        core::completion done;
        locked lock(*this);
        const auto detaches = [&] {
          if (entered != nullptr) attached_.remove(*entered);
        };
        if (items_.empty() && hand_over(lock, item, number, done)) return detaches();
        if (!items_.has_room() && more_items.size() > items_.size()) items_.move_into(more_items);
        if (!numbers_.has_room() && more_numbers.size() > numbers_.size()) numbers_.move_into(more_numbers);
        if (items_.has_room() && numbers_.has_room()) {
          std::size_t index = 0;
          while (index < numbers_.size() && numbers_[index] < number) ++index;
          items_.insert(index, std::move(item));
          numbers_.insert(index, number);
          note_size(lock);
          return detaches();
        }
        items_wanted = items_.next_size(unbounded);
        numbers_wanted = numbers_.next_size(unbounded);
      }
      more_items = typename core::item_ring<T>::block(items_wanted);
      more_numbers = core::item_ring<std::size_t>::block(numbers_wanted);
    }
  }

  const std::size_t capacity_;
  const when_full policy_;
  core::item_ring<T> items_;
  core::item_ring<std::size_t> numbers_;
  core::attachments attached_;
  platform::atomic<std::size_t> size_{0};
  platform::atomic<std::size_t> dropped_{0};
};

/// Item is T, or T&, which stays where it is until it is accepted.
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
    return queue_->unlink(lock, queued);  // I1: it is full, those behind it still have to wait
  }

  bool give_back(node&) noexcept { return false; }  // the item was accepted, and may have been popped

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
    return queue_->unlink(lock, queued);  // I1: it is empty, those behind it still have to wait
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
  /// The one that was granted, and what else is there by now, if the queue still exists.
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
    if constexpr (!std::is_lvalue_reference_v<U> &&
                  !std::is_trivially_copyable_v<U>) {  // converting it would consume it
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
