#pragma once

// condition: a condition variable for weir::mutex. A wait unlocks the mutex, waits to be notified, and locks it again.
//
// Who may call: every member may be called from any thread at any time; notifying does not need the mutex. The
// destructor may run concurrently with tickets, timers and stop requests, but not with a member call.
// Order: FIFO. notify_one() wakes the first waiter, and notified waiters queue for their mutex in the same order.
// Cancellation: a limit bounds the wait for the notification, never the re-locking: the mutex is held again whenever
// the wait completes. A notification decides the wait, however long the re-locking then takes. A notify_one() that
// cannot be delivered goes to the next waiter.
// Completions: a waiter resumes on its executor, its own thread, or the flat loop of the thread that unlocked the
// mutex, once it holds the mutex. No task resumes only to wait for the mutex.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <type_traits>
#include <utility>

#include <weir/core/attachment.hpp>
#include <weir/core/completion.hpp>
#include <weir/core/context.hpp>
#include <weir/core/operation.hpp>
#include <weir/core/synchronizer.hpp>
#include <weir/mutex.hpp>
#include <weir/wait/operation.hpp>
#include <weir/wait/wait_state.hpp>

namespace weir {

/// state: locked, queued, closed (core/synchronizer.hpp)
///
/// Why no notification is lost: a waiter is queued here before it unlocks the mutex, so a thread that changes something
/// under the mutex and then notifies finds it. The notification decides the wait; the lock is a second wait, which the
/// party that decided the first one starts on the waiter's behalf.
class condition : public core::synchronizer {
  struct until_told {};

 public:
  condition() noexcept : synchronizer(0) {}

  /// Closes the condition: waiters get errc::closed and hold their mutex. So does a notified waiter that is still
  /// locking its mutex and then finds that its predicate does not hold.
  ~condition() {
    close();  // first: a notified waiter that waits again must find it closed
    shut();
    for (platform::spinner spin;; spin.step()) {
      locked lock(*this);
      if (notified_.detach_all()) return;
    }
  }

  template <class Predicate>
  class wait_op;

  /// Waits for a notification. Unlocks the mutex that `held` holds and locks it again before the wait completes, also
  /// after a failure. Only if the mutex was closed during the wait, `held` is empty and the wait fails with
  /// errc::closed. Throws std::system_error(errc::not_owner) at the call if `held` is empty.
  inline auto wait(mutex::guard& held);

  /// Waits until the predicate holds. The waiter calls it, holding the mutex, before it waits and after each
  /// notification. After a time-out or a stop request the wait succeeds if the predicate holds then.
  template <class Predicate>
  auto wait(mutex::guard& held, Predicate holds) {
    if (!held) throw std::system_error(make_error_code(errc::not_owner), "weir::condition::wait");
    using op = wait_op<Predicate>;
    return operation<op>(op(*this, held, std::move(holds)), *held.mutex());
  }

  /// Wakes the first waiter.
  void notify_one() noexcept {
    core::completion done;
    locked lock(*this);
    notify_first(lock, done);
  }

  /// Wakes all waiters.
  void notify_all() noexcept {
    core::completion done;
    locked lock(*this);
    serve<node>(lock, done, [] { return true; }, core::anyone, [&](node& first) { attach(first); });
  }

 private:
  /// The second wait, for the mutex. Its completion notifies the owner of the first wait.
  class relocking final : public wait::wait_state<mutex::lock_op<void>, wait::none> {
    using state = wait::wait_state<mutex::lock_op<void>, wait::none>;

   public:
    explicit relocking(mutex& wanted) noexcept : state(mutex::lock_op<void>(wanted)) {}

    /// Returns true if the wait for the mutex is queued.
    bool begin(core::claim& first) noexcept {
      first_ = &first;
      this->run_ = [](work& told) noexcept {
        auto& self = static_cast<relocking&>(told);
        // cancel_all() on the mutex must not take it from a wait that has to hold it at its end.
        if (self.outcome() == core::outcome::cancelled && self.begin(*self.first_)) return;
        self.first_->run();
      };
      if (is_queued()) return true;
      if (this->outcome() != core::outcome::would_deadlock) return false;
      core::context nobody;  // code of the same owner holds the mutex and will unlock it: wait as nobody
      this->enter(nobody);
      return is_queued();
    }

   private:
    bool is_queued() noexcept {
      this->reset();
      return !this->ready() && this->enqueue();
    }

    core::claim* first_ = nullptr;
  };

  /// A notified node is attached until the wait completes or waits again: while the waiter locks its mutex it is in no
  /// queue of the condition, which may be destroyed in that time.
  struct node : core::waiter {
    explicit node(mutex& wanted) noexcept : relock(wanted), unlocked(&wanted) {}
    node(node&&) noexcept = default;
    ~node() {
      if (by != nullptr && attached.enter()) by->detach(*this);
    }
    void enter(core::context& where) noexcept { relock.enter(where); }

    relocking relock;
    mutex* unlocked;
    core::attachment attached;
    condition* by = nullptr;    // the condition that notified it
    std::exception_ptr thrown;  // the exception of the predicate
    bool let_go = false;        // the guard does not hold the mutex: it is unlocked or being locked again
    bool alone = false;         // woken by notify_one(), which woke no other waiter
    bool holds = false;         // the predicate holds, or has thrown
  };

  void attach(node& notified) noexcept {
    notified.by = this;
    notified_.add(notified.attached);
  }

  void notify_first(locked& lock, core::completion& done) noexcept {
    bool woken = false;
    serve<node>(
        lock, done, [&] { return !woken; }, core::anyone,
        [&](node& first) {
          attach(first);
          first.alone = woken = true;
        });
  }

  void detach(node& entered) noexcept {
    locked lock(*this);
    notified_.remove(entered.attached);
  }

  /// Passes on the notification of a waiter that will not use it.
  void pass_on(node& entered) noexcept {
    core::completion done;
    locked lock(*this);
    notified_.remove(entered.attached);
    notify_first(lock, done);
  }

  core::attachments notified_;
};

template <class Predicate>
class condition::wait_op {
 public:
  using value_type = void;
  using node = condition::node;

  wait_op(condition& waited, mutex::guard& held, Predicate holds)
      : condition_(&waited), guard_(&held), holds_(std::move(holds)) {}

  core::answer try_now(node& asking) noexcept {
    if (condition_->closed()) return asking.decide(core::outcome::closed);
    return fulfilled(asking) ? asking.decide(core::outcome::granted) : core::answer::not_ready;
  }

  core::answer start(node& starting, core::completion&) noexcept {
    const bool again = std::exchange(starting.by, nullptr) != nullptr;
    if (again && !starting.attached.enter()) return starting.decide(core::outcome::closed);  // destroyed
    starting.alone = false;
    locked lock(*condition_);
    if (again) condition_->notified_.remove(starting.attached);
    return lock.closed() ? starting.decide(core::outcome::closed) : condition_->enqueue(lock, starting);
  }

  static constexpr bool repeats = true;

  void on_queued(node& waiting) noexcept {
    waiting.let_go = true;
    guard_->release()->unlock();
  }

  bool withdraw(node& queued, core::completion&) noexcept {
    locked lock(*condition_);
    return condition_->unlink(lock, queued);  // leaving frees nothing for the waiters behind
  }

  bool on_decided(node& decided, core::waiter*, core::completion&) noexcept {
    return !decided.let_go || !decided.relock.begin(*decided.wait);
  }

  bool cancel_stage(node& decided) noexcept { return decided.relock.withdraw(); }

  /// Returns the mutex to the guard, unless the mutex was closed. True: the wait has to be repeated.
  bool on_resumed(node& told, core::outcome verdict) noexcept {
    if (!told.let_go) return false;
    if (told.relock.outcome() != core::outcome::granted) {
      if (told.alone && told.attached.enter()) condition_->pass_on(told);
      return false;
    }
    told.let_go = false;
    *guard_ = mutex::guard(*told.unlocked, std::adopt_lock);
    if constexpr (std::is_same_v<Predicate, until_told>) return false;
    return verdict != core::outcome::closed && !fulfilled(told) && verdict == core::outcome::granted;
  }

  core::outcome outcome(const node& told, core::outcome verdict) const noexcept {
    if (told.let_go) return told.relock.outcome();
    return told.holds ? core::outcome::granted : verdict;
  }

  /// Unlocks the mutex if it was granted, and passes a notify_one() on to the next waiter.
  void give_back(node& told) noexcept {
    if (told.let_go && told.relock.outcome() == core::outcome::granted) told.unlocked->unlock();
    if (told.alone && told.attached.enter()) condition_->pass_on(told);
  }

  void take(node& granted) {
    if (granted.thrown) std::rethrow_exception(granted.thrown);
  }

 private:
  /// Calls the predicate. Its exception becomes the wait's own: it is rethrown where the waiter resumes.
  bool fulfilled([[maybe_unused]] node& asking) noexcept {
    if constexpr (!std::is_same_v<Predicate, until_told>) {
      try {
        asking.holds = static_cast<bool>(holds_());
      } catch (...) {
        asking.thrown = std::current_exception();
        asking.holds = true;
      }
    }
    return asking.holds;
  }

  condition* condition_;
  mutex::guard* guard_;
  [[no_unique_address]] Predicate holds_;
};

auto condition::wait(mutex::guard& held) { return wait(held, until_told()); }

}  // namespace weir
