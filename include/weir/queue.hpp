#pragma once

// queue<T>: a FIFO queue of items between producers and consumers, with back-pressure and an end.
//
//     weir::queue<job> jobs(64);
//     co_await jobs.push(next);                                // waits while the queue is full
//     while (auto item = co_await jobs.pop()) process(*item);  // ends after close(), when it is drained
//
// Who may call: every member may be called from any thread at any time. The destructor may run concurrently with
// tickets, timers and stop requests, but not with a member call.
// Order: FIFO, for the items, for waiting pushers and for waiting poppers. An item goes directly to the first waiting
// popper.
// Cancellation: a pop that gave up has taken no item. The item of a push that gave up is destroyed with the operation,
// or is untouched (push_from). A granted wait cannot be cancelled; an item that cannot be delivered goes back to its
// place at the front.
// Completions: a waiter resumes on its executor, its own thread, or the flat loop of the thread that pushed or popped,
// after that call has done all its work.
//
// No item is destroyed under the lock, but items are moved there, and moved-from items are destroyed there. So the move
// constructor and the destructor of a moved-from item must not call into weir or block.

#include <concepts>
#include <cstddef>
#include <exception>
#include <limits>
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
#include <weir/core/synchronizer.hpp>
#include <weir/wait/operation.hpp>

namespace weir {

/// state: locked, queued, closed (core/synchronizer.hpp); all else is under the lock.
///
/// I1  Undecided poppers are queued only while it is empty and open, undecided pushers only while it is full and open.
///     So all undecided waiters are of one kind.
/// I2  It holds at most capacity items, apart from those that were given back.
/// I3  numbers_ holds, in ascending order, the numbers of the first items, which were given back. An item is numbered
///     when it is popped for the first time, so the items behind have greater numbers: the next is items_.first() +
///     numbers_.size().
template <class T>
class queue : private core::synchronizer {  // private: its close() differs from the base's
  static_assert(std::is_nothrow_move_constructible_v<T>,
                "the items of a weir::queue are moved under its lock: their move constructor must be noexcept");

 public:
  /// The type of the items.
  using value_type = T;

  /// The capacity of a queue whose push() never waits.
  static constexpr std::size_t unbounded = std::numeric_limits<std::size_t>::max();

  /// What a push into a full queue does: it waits, replaces the oldest item, or is dropped itself.
  enum class when_full { wait, drop_oldest, drop_newest };

  /// Throws std::invalid_argument if the capacity is 0.
  explicit queue(std::size_t capacity = unbounded, when_full policy = when_full::wait)
      : synchronizer(0), capacity_(checked(capacity)), policy_(policy) {}

  /// Closes the queue: waiting pushers get errc::closed, waiting poppers get an empty result.
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

  /// Waits while it is full, unless the policy drops items. Fails with errc::closed. The item is constructed here,
  /// inside the operation, and is destroyed with it if the push fails.
  template <class U = T>
    requires std::constructible_from<T, U>
  auto push(U&& item);

  /// Pushes as push() does, but moves from `item` only if it is accepted: `item` must exist until the wait has
  /// completed.
  auto push_from(T& item) noexcept;

  /// Returns false if the item was not accepted (full or closed); it is then untouched. An item of another type than T
  /// may have been converted if the queue became full at the same time.
  template <class U = T>
    requires std::constructible_from<T, U>
  bool try_push(U&& item);

  /// Waits while it is empty. Yields an empty optional if it is closed and drained.
  auto pop();

  /// Pops without waiting. Returns an empty optional if it is empty.
  std::optional<T> try_pop() {
    std::optional<T> taken;
    core::completion done;
    locked lock(*this);
    if (!items_.empty()) take_front(lock, taken, done);
    return taken;
  }

  /// Waits while it is empty, then yields at least one item and at most `most`. Yields none if it is closed and
  /// drained. Throws std::invalid_argument if `most` is 0.
  auto pop_many(std::size_t most);

  /// The Asio spelling: pop()(token). Needs <weir/asio.hpp> or <weir/boost_asio.hpp>.
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

  /// Members of every synchronizer.
  using synchronizer::cancel_all;
  using synchronizer::closed;
  using synchronizer::waiting;

  /// Refuses further pushes; the items inside can still be popped.
  void close() noexcept {
    core::completion done;
    locked lock(*this);
    close(lock, done);
  }

  /// Closes, and drops the items inside. Returns how many.
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

  /// Snapshots, taken without the lock.
  [[nodiscard]] std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }  // a snapshot
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  /// Returns how many items were accepted and then dropped, by a drop policy or by stop().
  [[nodiscard]] std::size_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }  // a snapshot

  /// Snapshots, like waiting(): by I1 all waiters are of one kind.
  [[nodiscard]] std::size_t waiting_push() const noexcept { return empty() ? 0 : waiting(); }
  [[nodiscard]] std::size_t waiting_pop() const noexcept { return empty() ? waiting() : 0; }

  /// Checks the invariants, which hold between any two calls. For tests.
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
    T* item = nullptr;             // where the item is until it is accepted
    std::exception_ptr no_memory;  // if there was none: the item is where it was
  };
  struct pop_node : core::waiter {
    explicit pop_node(bool for_more = false) noexcept : many(for_more) {}  // NOLINT: `number` comes with the item
    pop_node(pop_node&& from) noexcept : many(from.many) {}  // NOLINT: moved only while nothing has started

    const bool many;        // it is a many_node
    std::size_t number;     // the number of the item (I3)
    std::optional<T> item;  // empty after a grant: closed and drained
  };
  /// The node of pop_many, which pops more items once it has been granted one.
  struct many_node : pop_node {
    many_node() noexcept : pop_node(true) {}
    core::attachment attached;
  };

  static std::size_t checked(std::size_t capacity) {
    if (capacity == 0) throw std::invalid_argument("weir::queue(0): a queue of capacity 0 could never hold an item");
    return capacity;
  }

  [[nodiscard]] bool is_full() const noexcept { return items_.size() >= capacity_; }

  void note_size(locked&) noexcept { size_.store(items_.size(), std::memory_order_relaxed); }  // relaxed: a snapshot

  void count_dropped(std::size_t more) noexcept {
    // relaxed: written under the lock, read as a snapshot
    dropped_.store(dropped_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }

  /// Pushes an item. `claim(outcome)` decides the push before anything is moved; `wait(lock)` answers for a push that
  /// has to wait. Allocates without the lock. Throws std::bad_alloc, and has then changed nothing.
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

  /// Hands an accepted item to the first waiting popper, else stores it behind the others. The item that is dropped for
  /// it, or it itself, is moved to `unwanted`.
  void put(locked& lock, T& item, std::optional<T>& unwanted, core::completion& done) noexcept {
    if (items_.empty() && hand_over(lock, item, items_.first(), done)) {
      items_.skip();
      return;
    }
    if (is_full() && !make_room(item, unwanted)) return;
    items_.push_back(std::move(item));
    note_size(lock);
  }

  /// Makes room as the policy says. Returns false if the item itself is dropped.
  [[gnu::noinline]] bool make_room(T& item, std::optional<T>& unwanted) noexcept {
    count_dropped(1);
    if (policy_ == when_full::drop_newest) {
      unwanted.emplace(std::move(item));
      return false;
    }
    std::ignore = pop_front(unwanted);
    return true;
  }

  /// Hands the item to the first waiting popper. Returns false if there is none.
  bool hand_over(locked& lock, T& item, std::size_t number, core::completion& done) noexcept {
    bool taken = false;
    serve<pop_node>(
        lock, done, [&] { return !taken; }, core::anyone,
        [&](pop_node& first) {
          first.item.emplace(std::move(item));
          first.number = number;
          if (first.many) attached_.add(static_cast<many_node&>(first).attached);
          taken = true;
        });
    return taken;
  }

  /// Pops the first item and serves the pushers. Returns the number of the item.
  std::size_t take_front(locked& lock, std::optional<T>& taken, core::completion& done) noexcept {
    const std::size_t number = pop_front(taken);
    serve_pushers(lock, done);
    note_size(lock);
    return number;
  }

  /// Pops the first item. Returns its number (I3).
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

  /// Pops further items for a pop_many that was granted one and has entered.
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

  /// Serves the pushers after an item has left (I1). Needs no memory: they wait only while it is full.
  void serve_pushers(locked& lock, core::completion& done) noexcept {
    serve<push_node>(
        lock, done, [&] { return !is_full(); }, core::anyone,
        [&](push_node& first) { items_.push_back(std::move(*first.item)); });
  }

  /// Pops an item. `wait` is as for push_item.
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

  /// Closes. By I1 the waiters are poppers if the queue is empty, else pushers.
  void close(locked& lock, core::completion& done) noexcept {
    lock.state |= closed_bit;
    complete_all(lock, items_.empty() ? core::outcome::granted : core::outcome::closed, done);
  }

  /// Gives back an item that cannot be delivered: to the next waiting popper, else to its place at the front (I3).
  /// `entered` is the attachment of a pop_many, which is removed here; null for a pop.
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

}  // namespace weir

#include <weir/queue_ops.ipp>
