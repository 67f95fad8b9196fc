#pragma once

// One wait of any kind: the operation, its node, its claim and its limits. A way of waiting derives from it, stores in
// work::run_ the function that notifies its owner, and calls in this order
//   enter(context)          sets the context of the caller, if there is one
//   ready()                 true: decided at once. Otherwise:
//   enqueue()               true: queued, and the owner will be notified; the starter must not touch it any more
//   enqueue_again(notify)   called by the notified owner. True: queued again; `notify` will be called (core/staged.hpp)
//   finish()                disarms the limits; then outcome() and take()
// or abandon(), if the owner is destroyed while the wait is queued, or granted and not delivered.

#include <cstdint>
#include <type_traits>
#include <utility>

#include <weir/core/completion.hpp>
#include <weir/core/operation.hpp>
#include <weir/core/staged.hpp>
#include <weir/wait/limits.hpp>

namespace weir::wait {

/// The phase of an operation. A build without checks leaves it `unchecked` until the operation suspends: each store
/// would delay the next atomic step.
enum class phase : std::uint8_t { described, unchecked, spent, suspended };

template <core::waitable Op, unsigned Limits>
class wait_state : public time_limit<Limits & timed, wait_state<Op, Limits>>,
                   public stop_limit<(Limits & stop_on) != 0, wait_state<Op, Limits>>,
                   public core::stages<Op>::claim {
  using traits = core::operation_traits<Op>;
  using stages = core::stages<Op>;
  using time_part = time_limit<Limits & timed, wait_state>;
  using stop_part = stop_limit<(Limits & stop_on) != 0, wait_state>;

 public:
  using value_type = typename Op::value_type;
  using node = typename Op::node;
  template <class... Described>
  explicit wait_state(Op op, Described&&... described) noexcept
      : op_(std::move(op)), node_(std::forward<Described>(described)...) {}

  struct taking_over {};
  /// Moves a description that has not been waited on. Limits may be added.
  template <unsigned Fewer>
  wait_state(taking_over, wait_state<Op, Fewer>&& unstarted) noexcept
      : op_(std::move(unstarted.op_)), node_(std::move(unstarted.node_)) {
    time_part::take_over(unstarted);
    stop_part::take_over(unstarted);
  }
  wait_state(wait_state&& unstarted) noexcept : wait_state(taking_over{}, std::move(unstarted)) {}

  void enter(core::context& where) {
    traits::enter(node_, where);
    time_part::enter(where);
  }

  /// Whether starting the wait cannot fail. With a time limit it throws if no timers can be started.
  static constexpr bool starts_without_fail = (Limits & timed) == 0;

  /// The order of the checks is the order of the outcomes: cancelled, closed, would_deadlock, granted, timed_out.
  [[gnu::always_inline]] bool ready() noexcept(starts_without_fail) {
    node_.wait = this;
    return stopped() || op_.try_now(node_) == core::answer::done || timed_out(this->expired_at_once());
  }

  template <class Withdrawn = core::never_withdrawn>
  bool enqueue(Withdrawn withdrawn = {}) noexcept {
    return queue_up() || enqueue_again(this->run_, withdrawn);
  }
  template <class Withdrawn = core::never_withdrawn>
  bool enqueue_again(work::function notify, Withdrawn withdrawn = {}) noexcept {
    return stages::wait_again(*this, notify, withdrawn);
  }

  /// Gives the wait up from outside: by its timer, stop token, ticket or cancellation slot. True: this call decided it,
  /// and its owner has been notified or will be.
  bool give_up(core::outcome verdict) noexcept {
    if (!this->decide_to_leave(verdict)) return false;
    leave();
    return true;
  }

  /// The second half of give_up, after decide_to_leave() has succeeded.
  void leave() noexcept {
    if (!this->arrive()) return;  // its starter is still at work, and withdraws it
    stop_part::disarm();          // does not block inside the stop callback; in finish() the owner would block
    core::completion done;
    if (this->was_queued()) op_.withdraw(node_, done);
    done.add(*this);
  }

  void finish() noexcept {
    time_part::disarm();
    stop_part::disarm();
  }

  [[nodiscard]] core::outcome outcome() const noexcept { return stages::outcome_of(op_, node_, this->verdict()); }
  auto take() { return op_.take(node_); }

  /// Moves the description into another wait; take_along() is for a wait that outlives the expression.
  Op&& described_op() noexcept { return std::move(op_); }
  node&& described_node() noexcept { return std::move(node_); }
  void take_along() noexcept { traits::take_along(op_); }

  /// Called after finish(): returns the value, or the failure.
  result<value_type> take_outcome() {
    if (outcome() == core::outcome::granted) return traits::take(op_, node_);
    traits::unused(op_);
    return static_cast<errc>(outcome());
  }

  /// Called if the owner is destroyed: takes the wait out of its queue or, if it is decided, retracts it from the
  /// executor that would resume the owner, and gives back what was granted.
  void abandon(executor_ref resumes) noexcept {
    const bool withdrawn = withdraw();
    // A decided wait is about to be posted. Its stage is first: an executor that is being destroyed retracts anything.
    const auto taken_back = [&] { return withdrawn || stages::cancel_stage(op_, node_) || resumes.retract(*this); };
    for (platform::spinner spin; !taken_back();) spin.step();
    finish();
    if (!withdrawn) give_back();
  }

  /// Called after finish(): undoes a grant that is not delivered. False: that is impossible, and the grant stands.
  bool give_back() noexcept {
    const bool nothing = !stages::several && this->verdict() != core::outcome::granted;
    return nothing || traits::give_back(op_, node_);
  }

  /// Takes the wait out of its queue. False: it is decided already.
  bool withdraw() noexcept {
    core::completion others;
    if (this->decided_by() == core::deciders::lock_holder) return !this->decided() && op_.withdraw(node_, others);
    if (!this->decide(core::outcome::cancelled)) return false;
    op_.withdraw(node_, others);
    return true;
  }

 protected:
  ~wait_state() = default;

  phase phase_ = WEIR_CHECKED ? phase::described : phase::unchecked;  // used by weir::operation; here it fills padding

 private:
  template <core::waitable, unsigned>
  friend class wait_state;
  friend stages;

  /// Whether parties other than the holder of the object's lock can decide the wait while it is being started.
  static constexpr bool arms = (Limits & limited) != 0 || stages::several;

  bool queue_up() noexcept {
    [[maybe_unused]] const typename stages::starting scope;
    core::completion others;
    if constexpr (!arms) {
      return op_.start(node_, others) == core::answer::queued;
    } else {
      this->set_deciders(core::deciders::anybody);
      this->start_arming();
      stages::begin(*this);
      time_part::arm();  // precedes queueing: a limit that has fired by then wins over every later grant
      stop_part::arm();
      const core::answer started = op_.start(node_, others);
      if (started == core::answer::done) return false;
      started == core::answer::queued ? stages::on_queued(op_, node_) : this->never_queued();
      if (this->finish_arming()) return true;
      if (this->leaving()) op_.withdraw(node_, others);
      return !this->settle(others);
    }
  }

  bool stopped() noexcept { return this->stop_requested() && this->decide(core::outcome::cancelled); }
  bool timed_out(bool expired) noexcept { return expired && this->decide(core::outcome::timed_out); }

  Op op_;
  node node_;
};

}  // namespace weir::wait
