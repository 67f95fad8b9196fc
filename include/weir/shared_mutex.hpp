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
#include <stdexcept>
#include <system_error>
#include <type_traits>
#include <utility>

#include <weir/core/assert.hpp>
#include <weir/core/operation.hpp>
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

  template <access Held>
  class holder;
  /// Of a writer, and of a reader.
  using guard = holder<access::exclusive>;
  using shared_guard = holder<access::shared>;

  template <class Value>
  class lock_op;
  class upgrade_op;

  // Exclusive.

  /// Waits until it is alone. Fails with errc::closed.
  inline auto lock() noexcept;

  /// Waits until it is alone, and gives a guard that unlocks.
  inline auto scoped_lock() noexcept;

  /// Locks if nobody is inside and nobody waits.
  bool try_lock() noexcept { return take_now(access::exclusive) == core::outcome::granted; }

  /// The same; an empty guard if not.
  inline guard try_scoped_lock() noexcept;

  /// Lets the first in line enter: a writer, or all readers up to the next writer. Throws
  /// std::system_error(errc::not_owner), and changes nothing, if no writer is inside.
  void unlock() {
    word seen = written_bit;
    if (advance(seen, 0)) return;
    if (!leave(written_bit, 0)) refuse("weir::shared_mutex::unlock: no writer is inside");
  }

  // Shared.

  /// Waits while a writer is inside or anybody is in line. Fails with errc::closed.
  inline auto lock_shared() noexcept;

  /// The same, and gives a guard that unlocks.
  inline auto scoped_lock_shared() noexcept;

  /// Locks if no writer is inside and nobody waits.
  bool try_lock_shared() noexcept { return take_now(access::shared) == core::outcome::granted; }

  /// The same; an empty guard if not.
  inline shared_guard try_scoped_lock_shared() noexcept;

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
  inline auto upgrade() noexcept;

  /// The same with what a guard holds, giving a guard. If it fails the shared_guard stays with the caller: the
  /// operation refers to it until it is granted, so wait in the same full expression. start() and completion tokens
  /// take the guard along: there a failed upgrade unlocks. Throws, where it is called, as downgrade(guard&&) does.
  inline auto upgrade(shared_guard&& held);

  /// In the way of a completion token of Asio's, with <weir/asio.hpp> or <weir/boost_asio.hpp>.
  template <class Token>
  decltype(auto) async_lock(Token&& token);
  template <class Token>
  decltype(auto) async_scoped_lock(Token&& token);
  template <class Token>
  decltype(auto) async_lock_shared(Token&& token);
  template <class Token>
  decltype(auto) async_scoped_lock_shared(Token&& token);
  template <class Token>
  decltype(auto) async_upgrade(Token&& token);

  /// A writer is inside: a reading.
  [[nodiscard]] bool locked() const noexcept { return (load() & written_bit) != 0; }

  /// How many readers are inside: a reading.
  [[nodiscard]] std::size_t readers() const noexcept { return static_cast<std::size_t>(readers_in(load())); }

  /// For tests: what holds between any two calls.
  [[nodiscard]] bool check_invariants() noexcept {
    section lock(*this);
    std::size_t waiters = 0;
    std::size_t upgrades = 0;
    bool first_fits = false;
    core::completion nobody;
    serve(lock, nobody, [&](core::waiter& each) noexcept {
      const access wanted = static_cast<node&>(each).wanted;
      if (waiters++ == 0) first_fits = fits(lock, wanted);
      if (wanted == access::upgraded) ++upgrades;
      return core::answer::lost;  // goes on with the next
    });
    return !first_fits                                            // I1
           && (!is_written(lock) || readers_in(lock.state) == 0)  // I2
           && upgrades == (first_is_upgrade(lock) ? 1u : 0u)      //
           && (upgrades == 0 || readers_in(lock.state) > 1);      // I3
  }

 private:
  static constexpr word written_bit = word{1} << own_shift;
  static constexpr int reader_shift = own_shift + 1;
  static constexpr word one_reader = word{1} << reader_shift;

  struct node : core::waiter {
    explicit node(access asked) noexcept : wanted(asked) {}
    access wanted;
  };

  using section = synchronizer::locked;  // of its own lock: the name `locked` is the public reading here

  static constexpr word readers_in(word state) noexcept { return state >> reader_shift; }
  static bool is_written(const section& lock) noexcept { return (lock.state & written_bit) != 0; }

  /// Of what is inside; who waits is another question.
  static bool fits(const section& lock, access wanted) noexcept {
    if (is_written(lock)) return false;
    return wanted == access::shared || readers_in(lock.state) <= (wanted == access::upgraded ? 1u : 0u);
  }

  static void take(section& lock, access granted) noexcept {
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
    return take_now_slow(wanted);
  }

  [[gnu::noinline]] core::outcome take_now_slow(access wanted) noexcept {
    section lock(*this);
    const core::outcome verdict = judge(lock, wanted);
    if (verdict == core::outcome::granted) take(lock, wanted);
    return verdict;
  }

  /// Of a newcomer: it queues behind whoever is there, unless it upgrades.
  core::outcome judge(section& lock, access wanted) noexcept {
    if (lock.closed()) return core::outcome::closed;
    if (wanted == access::upgraded) {
      if (readers_in(lock.state) == 0) return core::outcome::not_owner;
      if (first_is_upgrade(lock)) return core::outcome::would_deadlock;
    } else if (anybody_waits(lock)) {
      return core::outcome::pending;
    }
    return fits(lock, wanted) ? core::outcome::granted : core::outcome::pending;
  }

  core::answer line_up(section& lock, node& newcomer) noexcept {
    return newcomer.wanted == access::upgraded ? enqueue_first(lock, newcomer) : enqueue(lock, newcomer);  // I3
  }

  bool first_is_upgrade(section& lock) noexcept {
    const auto* first = static_cast<node*>(first_undecided(lock));
    return first != nullptr && first->wanted == access::upgraded;
  }

  bool withdraw(node& queued, core::completion& done) noexcept {
    section lock(*this);
    const bool was_queued = unlink(lock, queued);
    serve_queue(lock, done);
    return was_queued;
  }

  /// Exchanges a lock that is held, the writer's or one reader's, for another or none. False: it was not held.
  [[gnu::noinline]] bool leave(word held, word kept) noexcept {
    core::completion done;
    section lock(*this);
    if (held == written_bit ? !is_written(lock) : readers_in(lock.state) == 0) return false;
    lock.state += kept - held;
    serve_queue(lock, done);
    return true;
  }

  /// I1, after somebody left, the lock or the line.
  void serve_queue(section& lock, core::completion& done) noexcept {
    serve(lock, done, [&](core::waiter& first) noexcept {
      const access wanted = static_cast<node&>(first).wanted;
      if (!fits(lock, wanted)) return core::answer::not_ready;
      const core::answer given = first.decide(core::outcome::granted);
      if (given == core::answer::done) take(lock, wanted);
      return given;
    });
  }
};

/// Unlocks what it holds, exclusive (guard) or shared (shared_guard), when it goes. Move-only.
template <shared_mutex::access Held>
class [[nodiscard(
    "a guard that is discarded unlocks at once: auto guard = co_await m.scoped_lock(); or "
    "m.scoped_lock_shared();")]] shared_mutex::holder {
 public:
  holder() noexcept = default;
  holder(holder&& from) noexcept : mutex_(std::exchange(from.mutex_, nullptr)) {}
  holder& operator=(holder&& from) noexcept {
    holder taken(std::move(from));
    std::swap(mutex_, taken.mutex_);
    return *this;
  }
  ~holder() {
    if (mutex_ != nullptr) unlock();
  }

  /// Whether it holds the lock.
  [[nodiscard]] bool owns_lock() const noexcept { return mutex_ != nullptr; }
  explicit operator bool() const noexcept { return owns_lock(); }

  /// Throws std::system_error(errc::not_owner) if it holds nothing.
  void unlock() {
    shared_mutex* const held = release();
    if (held == nullptr) refuse("weir::shared_mutex: a guard that is empty has nothing to unlock");
    if constexpr (Held == access::shared) {
      held->unlock_shared();
    } else {
      held->unlock();
    }
  }

  /// Leaves the mutex locked, to be unlocked by whoever called this. Null if it holds nothing.
  shared_mutex* release() noexcept { return std::exchange(mutex_, nullptr); }

  /// The mutex that it holds. Null if none.
  [[nodiscard]] shared_mutex* mutex() const noexcept { return mutex_; }

 private:
  friend class shared_mutex;
  explicit holder(shared_mutex& held) noexcept : mutex_(&held) {}

  void check_holds(const shared_mutex& wanted, const char* empty, const char* foreign) const {
    if (mutex_ == nullptr) refuse(empty);
    if (mutex_ != &wanted) throw std::invalid_argument(foreign);
  }

  shared_mutex* mutex_ = nullptr;
};

/// Value is void, or the guard of what is wanted.
template <class Value>
class shared_mutex::lock_op {
 public:
  using value_type = Value;
  using node = shared_mutex::node;

  explicit lock_op(shared_mutex& wanted) noexcept : mutex_(&wanted) {}

  core::answer try_now(node& asking) noexcept {
    const core::outcome verdict = mutex_->take_now(asking.wanted);
    return verdict == core::outcome::pending ? core::answer::not_ready : asking.decide(verdict);
  }

  core::answer start(node& starting, core::completion&) noexcept {
    section lock(*mutex_);
    const core::outcome verdict = mutex_->judge(lock, starting.wanted);
    if (verdict == core::outcome::pending) return mutex_->line_up(lock, starting);
    const core::answer decided = starting.decide(verdict);  // claim first, then take
    if (verdict == core::outcome::granted && decided == core::answer::done) shared_mutex::take(lock, starting.wanted);
    return decided;
  }

  bool withdraw(node& queued, core::completion& done) noexcept { return mutex_->withdraw(queued, done); }

  void give_back(node& granted) noexcept {
    switch (granted.wanted) {
      case access::exclusive:
        return mutex_->unlock();
      case access::shared:
        return mutex_->unlock_shared();
      case access::upgraded:
        return mutex_->downgrade();
    }
  }

  Value take(node&) noexcept {
    if constexpr (!std::is_void_v<Value>) return Value(*mutex_);
  }

 private:
  shared_mutex* mutex_;
};

/// Upgrades what a shared_guard holds: the guard is the caller's until the grant is taken.
class shared_mutex::upgrade_op {
 public:
  using value_type = guard;
  using node = shared_mutex::node;

  upgrade_op(shared_mutex& wanted, shared_guard& held) noexcept : lock_(wanted), referred_(&held) {}

  /// For a wait that outlives the expression it was made in.
  void take_along() noexcept {
    if (!owned_) owned_ = std::move(*referred_);
  }

  core::answer try_now(node& asking) noexcept { return lock_.try_now(asking); }
  core::answer start(node& starting, core::completion& done) noexcept { return lock_.start(starting, done); }
  bool withdraw(node& queued, core::completion& done) noexcept { return lock_.withdraw(queued, done); }
  void give_back(node& granted) noexcept { lock_.give_back(granted); }

  /// It has failed. A guard that was taken along is out of its caller's reach: it unlocks now, not with the ticket.
  void unused() noexcept { owned_ = {}; }

  guard take(node& granted) noexcept {
    (owned_ ? owned_ : *referred_).release();
    return lock_.take(granted);
  }

 private:
  lock_op<guard> lock_;
  shared_guard* referred_;
  shared_guard owned_;
};

auto shared_mutex::lock() noexcept { return operation<lock_op<void>>(lock_op<void>(*this), access::exclusive); }

auto shared_mutex::scoped_lock() noexcept {
  return operation<lock_op<guard>>(lock_op<guard>(*this), access::exclusive);
}

shared_mutex::guard shared_mutex::try_scoped_lock() noexcept { return try_lock() ? guard(*this) : guard(); }

auto shared_mutex::lock_shared() noexcept { return operation<lock_op<void>>(lock_op<void>(*this), access::shared); }

auto shared_mutex::scoped_lock_shared() noexcept {
  return operation<lock_op<shared_guard>>(lock_op<shared_guard>(*this), access::shared);
}

shared_mutex::shared_guard shared_mutex::try_scoped_lock_shared() noexcept {
  return try_lock_shared() ? shared_guard(*this) : shared_guard();
}

auto shared_mutex::upgrade() noexcept { return operation<lock_op<void>>(lock_op<void>(*this), access::upgraded); }

auto shared_mutex::upgrade(shared_guard&& held) {
  held.check_holds(*this, "weir::shared_mutex::upgrade: the shared_guard is empty",
                   "weir::shared_mutex::upgrade: the shared_guard is another mutex's");
  return operation<upgrade_op>(upgrade_op(*this, held), access::upgraded);
}

shared_mutex::shared_guard shared_mutex::downgrade(guard&& held) {
  held.check_holds(*this, "weir::shared_mutex::downgrade: the guard is empty",
                   "weir::shared_mutex::downgrade: the guard is another mutex's");
  downgrade();
  held.release();
  return shared_guard(*this);
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

template <class Token>
decltype(auto) shared_mutex::async_lock(Token&& token) {
  return lock()(std::forward<Token>(token));
}

template <class Token>
decltype(auto) shared_mutex::async_scoped_lock(Token&& token) {
  return scoped_lock()(std::forward<Token>(token));
}

template <class Token>
decltype(auto) shared_mutex::async_lock_shared(Token&& token) {
  return lock_shared()(std::forward<Token>(token));
}

template <class Token>
decltype(auto) shared_mutex::async_scoped_lock_shared(Token&& token) {
  return scoped_lock_shared()(std::forward<Token>(token));
}

template <class Token>
decltype(auto) shared_mutex::async_upgrade(Token&& token) {
  return upgrade()(std::forward<Token>(token));
}

}  // namespace weir
