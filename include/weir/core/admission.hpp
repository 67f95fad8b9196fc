#pragma once

// Admission: a synchronizer with one queue grants a request at once, or queues it. The synchronizer defines what a
// request takes from its state; this file defines, once, how a wait is decided, queued and withdrawn. The synchronizer
// befriends `admission` and has these private members:
//
//   node                    stores one wait: core::waiter, or derives from it, and request() returns what it asks for
//   take_now(request)       is the fast path and returns the outcome. granted: it has taken; pending: it has to wait
//   judge(lock, request)    returns the outcome for a newcomer. pending: it has to queue
//   take(lock, request)     takes from the state what was granted
//   anything_left(lock)     returns whether anything is left to grant: called before a waiter is touched. It may be
//   true
//                           too often, never too seldom
//   fits(lock, request)     returns whether enough is left for this request
//   give_back(request)      undoes a grant that cannot be delivered
//   hold<Value>(request)    makes what a scoped operation yields: a guard, a permit
//
// A synchronizer in which newcomers do not always queue at the end hides enqueue(lock, node) of the base.

#include <type_traits>

#include <weir/core/assert.hpp>
#include <weir/core/completion.hpp>
#include <weir/core/operation.hpp>
#include <weir/core/synchronizer.hpp>
#include <weir/core/waiter.hpp>

namespace weir::core {

/// The request of a synchronizer whose node is a plain waiter: it has only one kind.
struct no_request {};

struct admission {
  using critical_section = synchronizer::critical_section;

  template <class Sync, class Value>
  class op;

  static no_request request_of(const waiter&) noexcept { return {}; }
  template <class Node>
    requires requires(const Node& waiting) { waiting.request(); }
  static auto request_of(const Node& waiting) noexcept {
    return waiting.request();
  }

  /// The slow path of take_now: takes at once, or not at all.
  template <class Sync, class Request>
  [[gnu::noinline]] static outcome take_locked(Sync& sync, Request wanted) noexcept {
    critical_section lock(sync);
    const outcome verdict = sync.judge(lock, wanted);
    if (verdict == outcome::granted) sync.take(lock, wanted);
    return verdict;
  }

  /// Grants what is left to the queue. Called after the state has gained something or a waiter was withdrawn.
  template <class Sync>
  static void serve(Sync& sync, critical_section& lock, completion& done) noexcept {
    sync.template serve<typename Sync::node>(
        lock, done, [&] { return sync.anything_left(lock); },
        [&](const auto& first) { return sync.fits(lock, request_of(first)); },
        [&](const auto& first) { sync.take(lock, request_of(first)); });
  }

  /// Whether the first undecided waiter could be granted now. When a critical section ends it must be false: an
  /// invariant. (If a limit decides the waiter before it, it is false again once that one is withdrawn.)
  template <class Sync>
  static bool first_fits(Sync& sync, critical_section& lock) noexcept {
    const waiter* const first = sync.first_undecided(lock);
    if (first == nullptr || !sync.anything_left(lock)) return false;
    return sync.fits(lock, request_of(static_cast<const typename Sync::node&>(*first)));
  }
};

/// The operation of such a synchronizer (core/operation.hpp). Value is void, or the type that hold() makes.
template <class Sync, class Value>
class admission::op {
 public:
  using value_type = Value;
  using node = typename Sync::node;

  explicit op(Sync& sync) noexcept : sync_(&sync) {}

  [[gnu::always_inline]] answer try_now(node& asking) noexcept {
    const outcome verdict = sync_->take_now(request_of(asking));
    if (verdict == outcome::pending) return answer::not_ready;
    const answer decided = asking.decide(verdict);
    WEIR_ASSERT(decided == answer::done, "no other party knows a wait before it is queued");
    return decided;
  }

  answer start(node& starting, completion&) noexcept {
    critical_section lock(*sync_);
    const outcome verdict = sync_->judge(lock, request_of(starting));
    if (verdict == outcome::pending) return sync_->enqueue(lock, starting);
    return claim_then_take(starting, verdict, [&](node& granted) { sync_->take(lock, request_of(granted)); });
  }

  bool withdraw(node& queued, completion& done) noexcept {
    critical_section lock(*sync_);
    const bool was_queued = sync_->unlink(lock, queued);
    serve(*sync_, lock, done);
    return was_queued;
  }

  void give_back(node& granted) noexcept { sync_->give_back(request_of(granted)); }

  Value take([[maybe_unused]] node& granted) noexcept {
    if constexpr (!std::is_void_v<Value>) return sync_->template hold<Value>(request_of(granted));
  }

 protected:
  [[nodiscard]] Sync& sync() const noexcept { return *sync_; }

 private:
  Sync* sync_;
};

}  // namespace weir::core
