#pragma once

// shared_mutex: many readers or one writer, across co_await, with upgrade and downgrade.
//
// Who may call: every member may be called from any thread at any time. There is no owner: another task or thread may
// unlock, and one task may hold two shared locks. The destructor may run concurrently with tickets, timers and stop
// requests, but not with a member call.
// Order: FIFO, one queue for readers, writers and all kinds of waiters. Adjacent readers enter together, a waiting
// writer stops the readers behind it, try_ does not overtake. So neither side starves. The one exception is upgrade():
// it waits only for the readers inside, ahead of the queue, and no other waiter enters before it.
// Cancellation: a wait that gave up has lost its place and holds nothing new; the waiters behind it that can enter now
// do so at once. A failed upgrade keeps its shared lock. A granted wait cannot be cancelled.
// Completions: a waiter that enters resumes on its executor, its own thread, or the flat loop of the thread that let it
// in, after the call that let it in has done all its work.

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
/// I1  Between critical sections the first undecided waiter cannot enter: a writer is inside, or it is a writer and
///     readers are inside.
/// I2  While a writer is inside, no reader is.
/// I3  At most one upgrade is undecided. It is at the head of the queue, and another reader is inside.
///
/// Why no wake-up is lost: a waiter queues under the lock, after it has seen there that it cannot enter. A thread that
/// unlocks later sees the queued bit (or waits for the lock) and serves the queue under the lock; so does each waiter
/// that withdraws.
class shared_mutex : public core::synchronizer {
 public:
  /// The kind of lock that is held or wanted.
  enum class access : std::uint8_t { exclusive, shared, upgraded };

  shared_mutex() noexcept : synchronizer(0) {}

  /// Closes the mutex: every waiter gets errc::closed.
  ~shared_mutex() {
    shut();
    WEIR_ASSERT(!locked() && readers() == 0, "a shared_mutex was destroyed while it was locked");
  }

  /// Guards of a writer and of a reader.
  using guard = core::basic_guard<shared_mutex>;
  using shared_guard = core::basic_guard<shared_mutex, core::held_lock::shared>;

  /// The operations of locking and upgrading.
  template <class Value>
  using lock_op = core::admission::op<shared_mutex, Value>;
  class upgrade_op;

  // Exclusive locks.

  /// Waits for the exclusive lock. Fails with errc::closed.
  auto lock() noexcept { return operation<lock_op<void>>(lock_op<void>(*this), access::exclusive); }

  /// Waits for the exclusive lock and yields a guard that unlocks it.
  auto scoped_lock() noexcept { return operation<lock_op<guard>>(lock_op<guard>(*this), access::exclusive); }

  /// Locks if no reader or writer is inside and no waiter is queued.
  bool try_lock() noexcept { return take_now(access::exclusive) == core::outcome::granted; }

  /// Does the same; returns an empty guard on failure.
  guard try_scoped_lock() noexcept { return try_lock() ? guard(*this, std::adopt_lock) : guard(); }

  /// Lets the first waiter enter: a writer, or all readers up to the next writer. Throws
  /// std::system_error(errc::not_owner), and changes nothing, if no writer is inside.
  void unlock() {
    word seen = written_bit;
    if (advance(seen, 0)) return;
    if (!leave(written_bit, 0)) refuse("weir::shared_mutex::unlock: no writer is inside");
  }

  // Shared locks.

  /// Waits while a writer is inside or other waiters are queued. Fails with errc::closed.
  auto lock_shared() noexcept { return operation<lock_op<void>>(lock_op<void>(*this), access::shared); }

  /// Does the same and yields a guard that unlocks it.
  auto scoped_lock_shared() noexcept {
    return operation<lock_op<shared_guard>>(lock_op<shared_guard>(*this), access::shared);
  }

  /// Locks if no writer is inside and no waiter is queued.
  bool try_lock_shared() noexcept { return take_now(access::shared) == core::outcome::granted; }

  /// Does the same; returns an empty guard on failure.
  shared_guard try_scoped_lock_shared() noexcept {
    return try_lock_shared() ? shared_guard(*this, std::adopt_lock) : shared_guard();
  }

  /// Unlocks. The last reader lets the first waiter enter, the last but one a waiting upgrade. Throws
  /// std::system_error(errc::not_owner), and changes nothing, if no reader is inside.
  void unlock_shared() {
    word seen = load();
    while ((seen & (locked_bit | queued_bit)) == 0 && readers_in(seen) != 0) {
      if (advance(seen, seen - one_reader)) return;
    }
    if (!leave(one_reader, 0)) refuse("weir::shared_mutex::unlock_shared: no reader is inside");
  }

  // Downgrade and upgrade.

  /// Turns the exclusive lock into a shared one, with no gap: no other writer enters between. Readers at the head of
  /// the queue enter too. Throws std::system_error(errc::not_owner), and changes nothing, if no writer is inside.
  void downgrade() {
    word seen = written_bit;
    if (advance(seen, one_reader)) return;
    if (!leave(written_bit, one_reader)) refuse("weir::shared_mutex::downgrade: no writer is inside");
  }

  /// Downgrades the lock of a guard. Throws std::system_error(errc::not_owner) if the guard is empty, and
  /// std::invalid_argument if it holds another mutex; the guard is then unchanged.
  inline shared_guard downgrade(guard&& held);

  /// Turns a shared lock into the exclusive one: waits for the other readers inside to unlock, ahead of the queue, and
  /// no other waiter enters before it. Fails with errc::closed, with errc::would_deadlock if another upgrade waits
  /// (each would wait for the other's shared lock), with errc::not_owner if no reader is inside. If it fails or gives
  /// up, the caller still holds the shared lock.
  auto upgrade() noexcept { return operation<lock_op<void>>(lock_op<void>(*this), access::upgraded); }

  /// Upgrades the lock of a guard and yields a guard. If it fails, the shared_guard stays with the caller: the
  /// operation refers to it until it is granted, so wait in the same full expression. start() and completion tokens
  /// move the guard in: there a failed upgrade unlocks. Throws, at the call, as downgrade(guard&&) does.
  inline auto upgrade(shared_guard&& held);

  /// The Asio spelling: lock()(token). Needs <weir/asio.hpp> or <weir/boost_asio.hpp>.
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

  /// Returns whether a writer is inside: a snapshot.
  [[nodiscard]] bool locked() const noexcept { return (load() & written_bit) != 0; }

  /// Returns how many readers are inside: a snapshot.
  [[nodiscard]] std::size_t readers() const noexcept { return static_cast<std::size_t>(readers_in(load())); }

  /// Checks the invariants, which hold between any two calls. For tests.
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

  static bool anything_left(const critical_section& lock) noexcept { return !is_written(lock); }

  /// Judges by the locks that are held; the caller has to check the queue. A reader that upgrades is one of the
  /// readers.
  static bool fits(const critical_section& lock, access wanted) noexcept {
    if (is_written(lock)) return false;
    return wanted == access::shared || readers_in(lock.state) <= (wanted == access::upgraded ? 1u : 0u);
  }

  static void take(critical_section& lock, access granted) noexcept {
    if (granted == access::shared) {
      lock.state += one_reader;
    } else {
      lock.state = (lock.state & (one_reader - 1)) | written_bit;  // I2: an upgraded reader is no longer a reader
    }
  }

  [[noreturn, gnu::cold, gnu::noinline]] static void refuse(const char* sentence) {
    throw std::system_error(make_error_code(errc::not_owner), sentence);
  }

  /// The fast paths of locking. Pending: it has to wait.
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

  /// Judges a newcomer: it queues behind all waiters, unless it upgrades.
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

  core::answer enqueue(critical_section& lock, node& newcomer) noexcept {
    const bool first = newcomer.wanted == access::upgraded;  // I3
    return first ? enqueue_first(lock, newcomer) : synchronizer::enqueue(lock, newcomer);
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

  /// Exchanges a held lock, the writer's or one reader's, for another or none. Returns false if it was not held.
  [[gnu::noinline]] bool leave(word held, word kept) noexcept {
    core::completion done;
    critical_section lock(*this);
    if (held == written_bit ? !is_written(lock) : readers_in(lock.state) == 0) return false;
    lock.state += kept - held;
    core::admission::serve(*this, lock, done);  // I1
    return true;
  }
};

/// Upgrades the lock of a shared_guard, which stays with the caller until the grant is taken.
class shared_mutex::upgrade_op : public lock_op<guard> {
 public:
  upgrade_op(shared_mutex& wanted, shared_guard& held) noexcept : op(wanted), referred_(&held) {}

  /// Moves the guard in, for a wait that outlives its full expression.
  void take_along() noexcept {
    if (!owned_) owned_ = std::move(*referred_);
  }

  /// Called when the wait has failed. The caller cannot reach a guard that was moved in: it unlocks now, not with the
  /// ticket.
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

/// Turns an exclusive lock into a shared one with no gap: see shared_mutex::downgrade.
inline shared_mutex::shared_guard downgrade(shared_mutex::guard&& held) {
  if (!held) throw std::system_error(make_error_code(errc::not_owner), "weir::downgrade: the guard is empty");
  return held.mutex()->downgrade(std::move(held));
}

/// Turns a shared lock into an exclusive one: see shared_mutex::upgrade. Returns an operation.
inline auto upgrade(shared_mutex::shared_guard&& held) {
  if (!held) throw std::system_error(make_error_code(errc::not_owner), "weir::upgrade: the shared_guard is empty");
  return held.mutex()->upgrade(std::move(held));
}

}  // namespace weir
