#pragma once

// shared_mutex: many readers or one writer, across co_await, with a way up and a way down.
//
// Who may call: any member from any thread at any time; a lock may be unlocked by somebody else than who locked it, and
// one task may hold two shared locks: there is no owner. The destructor may race tickets, timers and stop requests, but
// no member call.
// Order: one line, first come, first served, over readers, writers and all kinds of waiters; readers that stand side by
// side enter together, a writer that waits stops the readers behind it, try_ does not overtake. So neither side
// starves. The one exception is upgrade(): it waits only for the readers inside, ahead of the line, and nobody enters
// past it.
// Cancellation: a wait that gave up has lost its place and holds nothing new; those behind it that now can enter do so
// at once. An upgrade that failed, however, still has its shared lock. One that was granted cannot be cancelled.
// Completions: whoever enters goes on where it belongs (its executor, its own thread, or the flat loop of the thread
// that let it in), after the call that let it in has done all its work.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <weir/core/admission.hpp>
#include <weir/core/assert.hpp>
#include <weir/core/guard.hpp>
#include <weir/core/std_locks.hpp>
#include <weir/core/synchronizer.hpp>
#include <weir/wait/operation.hpp>

namespace weir {

class shared_mutex;
template <>
inline constexpr bool core::locks_by_operation<shared_mutex> = true;

/// state: locked, queued, closed (core/synchronizer.hpp) and
///   bit 3    written   a writer is inside
///   bits 4…  readers inside
///   The legal pairs: (0, 0) free; (0, n) n readers; (1, 0) a writer.
///
/// I1  Between locks the first undecided waiter in line cannot enter: a writer is inside, or it is a writer and readers
///     are inside.
/// I2  While a writer is inside no reader is.
/// I3  At most one upgrade is undecided. It is at the head of the queue, and another reader is inside.
///
/// Why no wake-up is lost: a waiter queues under the lock, having seen under it that it cannot enter. Whoever leaves
/// then meets the queued bit (or the lock, and waits for it) and serves the queue under the lock; so does each waiter
/// that withdraws.
class shared_mutex : public core::synchronizer {
 public:
  /// What is held, or wanted.
  enum class access : std::uint8_t { exclusive, shared, upgraded };

  shared_mutex() noexcept : synchronizer(0) {}

  /// Closes: whoever waits gets errc::closed.
  ~shared_mutex() {
    shut();
    WEIR_ASSERT(!locked() && readers() == 0, "a shared_mutex was destroyed while it was locked");
  }

  /// Of a writer, and of a reader.
  using guard = core::basic_guard<shared_mutex>;
  using shared_guard = core::basic_guard<shared_mutex, core::access::shared>;

  template <class Value>
  using lock_op = core::admission::op<shared_mutex, Value>;
  class upgrade_op;

  // Exclusive.

  /// Waits until it is alone. Fails with errc::closed.
  auto lock() noexcept { return operation<lock_op<void>>(lock_op<void>(*this), access::exclusive); }

  /// Waits until it is alone, and gives a guard that unlocks.
  auto scoped_lock() noexcept { return operation<lock_op<guard>>(lock_op<guard>(*this), access::exclusive); }

  /// Locks if nobody is inside and nobody waits.
  bool try_lock() noexcept { return take_now(access::exclusive) == core::outcome::granted; }

  /// The same; an empty guard if not.
  guard try_scoped_lock() noexcept { return try_lock() ? guard(*this, std::adopt_lock) : guard(); }

  /// Lets the first in line enter: a writer, or all readers up to the next writer. Throws
  /// std::system_error(errc::not_owner), and changes nothing, if no writer is inside.
  void unlock() {
    word seen = written_bit;
    if (advance(seen, 0)) return;
    if (!leave(written_bit, 0)) refuse("weir::shared_mutex::unlock: no writer is inside");
  }

  // Shared.

  /// Waits while a writer is inside or anybody is in line. Fails with errc::closed.
  auto lock_shared() noexcept { return operation<lock_op<void>>(lock_op<void>(*this), access::shared); }

  /// The same, and gives a guard that unlocks.
  auto scoped_lock_shared() noexcept {
    return operation<lock_op<shared_guard>>(lock_op<shared_guard>(*this), access::shared);
  }

  /// Locks if no writer is inside and nobody waits.
  bool try_lock_shared() noexcept { return take_now(access::shared) == core::outcome::granted; }

  /// The same; an empty guard if not.
  shared_guard try_scoped_lock_shared() noexcept {
    return try_lock_shared() ? shared_guard(*this, std::adopt_lock) : shared_guard();
  }

  /// The last reader lets the first in line enter, the last but one an upgrade that waits. Throws
  /// std::system_error(errc::not_owner), and changes nothing, if no reader is inside.
  void unlock_shared() {
    word seen = load();
    while ((seen & (locked_bit | queued_bit)) == 0 && readers_in(seen) != 0) {
      if (advance(seen, seen - one_reader)) return;
    }
    if (!leave(one_reader, 0)) refuse("weir::shared_mutex::unlock_shared: no reader is inside");
  }

  // From one to the other.

  /// Exclusive to shared, with no gap: no other writer enters between. Readers that are first in line enter too. Throws
  /// std::system_error(errc::not_owner), and changes nothing, if no writer is inside.
  void downgrade() {
    word seen = written_bit;
    if (advance(seen, one_reader)) return;
    if (!leave(written_bit, one_reader)) refuse("weir::shared_mutex::downgrade: no writer is inside");
  }

  /// The same with what a guard holds. Throws std::system_error(errc::not_owner) if it is empty, std::invalid_argument
  /// if it is another mutex's; the guard is untouched then.
  inline shared_guard downgrade(guard&& held);

  /// Shared to exclusive: waits for the other readers inside to leave, ahead of the line, and nobody enters past it.
  /// Fails with errc::closed, with errc::would_deadlock if another upgrade waits (each would wait for the other's
  /// shared lock), with errc::not_owner if no reader is inside. One that fails, or gives up, has its shared lock still.
  auto upgrade() noexcept { return operation<lock_op<void>>(lock_op<void>(*this), access::upgraded); }

  /// The same with what a guard holds, giving a guard. If it fails the shared_guard stays with the caller: the
  /// operation refers to it until it is granted, so wait in the same full expression. start() and completion tokens
  /// take the guard along: there a failed upgrade unlocks. Throws, where it is called, as downgrade(guard&&) does.
  inline auto upgrade(shared_guard&& held);

  /// In the way of a completion token of Asio's, with <weir/asio.hpp> or <weir/boost_asio.hpp>.
  template <class Token>
  decltype(auto) async_lock(Token&& token) {
    return lock()(std::forward<Token>(token));
  }
  template <class Token>
  decltype(auto) async_scoped_lock(Token&& token) {
    return scoped_lock()(std::forward<Token>(token));
  }
  template <class Token>
  decltype(auto) async_lock_shared(Token&& token) {
    return lock_shared()(std::forward<Token>(token));
  }
  template <class Token>
  decltype(auto) async_scoped_lock_shared(Token&& token) {
    return scoped_lock_shared()(std::forward<Token>(token));
  }
  template <class Token>
  decltype(auto) async_upgrade(Token&& token) {
    return upgrade()(std::forward<Token>(token));
  }

  /// A writer is inside: a reading.
  [[nodiscard]] bool locked() const noexcept { return (load() & written_bit) != 0; }

  /// How many readers are inside: a reading.
  [[nodiscard]] std::size_t readers() const noexcept { return static_cast<std::size_t>(readers_in(load())); }

  /// For tests: what holds between any two calls.
  [[nodiscard]] bool check_invariants() noexcept {
    critical_section lock(*this);
    std::size_t upgrades = 0;
    for_each_undecided(lock, [&](core::waiter& each) {
      if (static_cast<node&>(each).wanted == access::upgraded) ++upgrades;
    });
    return !core::admission::first_fits(*this, lock)              // I1
           && (!is_written(lock) || readers_in(lock.state) == 0)  // I2
           && upgrades == (first_is_upgrade(lock) ? 1u : 0u)      //
           && (upgrades == 0 || readers_in(lock.state) > 1);      // I3
  }

 private:
  friend struct core::admission;
  friend guard;
  friend shared_guard;

  static constexpr const char* class_name = "weir::shared_mutex";
  static constexpr word written_bit = word{1} << own_shift;
  static constexpr int reader_shift = own_shift + 1;
  static constexpr word one_reader = word{1} << reader_shift;

  struct node : core::waiter {
    explicit node(access asked) noexcept : wanted(asked) {}
    [[nodiscard]] access request() const noexcept { return wanted; }
    access wanted;
  };

  static constexpr word readers_in(word state) noexcept { return state >> reader_shift; }
  static bool is_written(const critical_section& lock) noexcept { return (lock.state & written_bit) != 0; }

  static bool left(const critical_section& lock) noexcept { return !is_written(lock); }

  /// Of what is inside; who waits is another question.
  static bool fits(const critical_section& lock, access wanted) noexcept {
    if (is_written(lock)) return false;
    return wanted == access::shared || readers_in(lock.state) <= (wanted == access::upgraded ? 1u : 0u);
  }

  static void take(critical_section& lock, access granted) noexcept {
    if (granted == access::shared) {
      lock.state += one_reader;
    } else {
      lock.state = (lock.state & (one_reader - 1)) | written_bit;  // I2: the reader that is upgraded is one no more
    }
  }

  [[noreturn, gnu::cold, gnu::noinline]] static void refuse(const char* sentence) {
    throw std::system_error(make_error_code(errc::not_owner), sentence);
  }

  /// The fast paths of locking. Pending: not without waiting.
  core::outcome take_now(access wanted) noexcept {
    if (wanted == access::shared) {
      word seen = load();
      while ((seen & (locked_bit | queued_bit | closed_bit | written_bit)) == 0) {
        if (advance(seen, seen + one_reader)) return core::outcome::granted;
      }
    } else {
      word seen = wanted == access::upgraded ? one_reader : 0;
      if (advance(seen, written_bit)) return core::outcome::granted;
    }
    return core::admission::take_locked(*this, wanted);
  }

  /// Of a newcomer: it queues behind whoever is there, unless it upgrades.
  core::outcome judge(critical_section& lock, access wanted) noexcept {
    if (lock.closed()) return core::outcome::closed;
    if (wanted == access::upgraded) {
      if (readers_in(lock.state) == 0) return core::outcome::not_owner;
      if (first_is_upgrade(lock)) return core::outcome::would_deadlock;
    } else if (anybody_waits(lock)) {
      return core::outcome::pending;
    }
    return fits(lock, wanted) ? core::outcome::granted : core::outcome::pending;
  }

  core::answer place(critical_section& lock, node& newcomer) noexcept {
    return newcomer.wanted == access::upgraded ? enqueue_first(lock, newcomer) : enqueue(lock, newcomer);  // I3
  }

  bool first_is_upgrade(critical_section& lock) noexcept {
    const auto* first = static_cast<node*>(first_undecided(lock));
    return first != nullptr && first->wanted == access::upgraded;
  }

  void give_back(access granted) noexcept {
    switch (granted) {
      case access::exclusive:
        return unlock();
      case access::shared:
        return unlock_shared();
      case access::upgraded:
        return downgrade();
    }
  }

  template <class Guard>
  Guard hold(access) noexcept {
    return Guard(*this, std::adopt_lock);
  }

  template <class Guard>
  void check_held(const Guard& held, const char* empty, const char* foreign) const {
    if (!held) refuse(empty);
    if (held.mutex() != this) throw std::invalid_argument(foreign);
  }

  /// Exchanges a lock that is held, the writer's or one reader's, for another or none. False: it was not held.
  [[gnu::noinline]] bool leave(word held, word kept) noexcept {
    core::completion done;
    critical_section lock(*this);
    if (held == written_bit ? !is_written(lock) : readers_in(lock.state) == 0) return false;
    lock.state += kept - held;
    core::admission::serve(*this, lock, done);  // I1
    return true;
  }
};

/// Upgrades what a shared_guard holds: the guard is the caller's until the grant is taken.
class shared_mutex::upgrade_op : public lock_op<guard> {
 public:
  upgrade_op(shared_mutex& wanted, shared_guard& held) noexcept : op(wanted), referred_(&held) {}

  /// For a wait that outlives the expression it was made in.
  void take_along() noexcept {
    if (!owned_) owned_ = std::move(*referred_);
  }

  /// It has failed. A guard that was taken along is out of its caller's reach: it unlocks now, not with the ticket.
  void unused() noexcept { owned_ = {}; }

  guard take(node& granted) noexcept {
    (owned_ ? owned_ : *referred_).release();
    return op::take(granted);
  }

 private:
  shared_guard* referred_;
  shared_guard owned_;
};

auto shared_mutex::upgrade(shared_guard&& held) {
  check_held(held, "weir::shared_mutex::upgrade: the shared_guard is empty",
             "weir::shared_mutex::upgrade: the shared_guard is another mutex's");
  return operation<upgrade_op>(upgrade_op(*this, held), access::upgraded);
}

shared_mutex::shared_guard shared_mutex::downgrade(guard&& held) {
  check_held(held, "weir::shared_mutex::downgrade: the guard is empty",
             "weir::shared_mutex::downgrade: the guard is another mutex's");
  downgrade();
  held.release();
  return shared_guard(*this, std::adopt_lock);
}

/// Exclusive to shared with no gap: see shared_mutex::downgrade.
inline shared_mutex::shared_guard downgrade(shared_mutex::guard&& held) {
  if (!held) throw std::system_error(make_error_code(errc::not_owner), "weir::downgrade: the guard is empty");
  return held.mutex()->downgrade(std::move(held));
}

/// Shared to exclusive, an operation: see shared_mutex::upgrade.
inline auto upgrade(shared_mutex::shared_guard&& held) {
  if (!held) throw std::system_error(make_error_code(errc::not_owner), "weir::upgrade: the shared_guard is empty");
  return held.mutex()->upgrade(std::move(held));
}

}  // namespace weir
