#pragma once

// One wait, in whichever way: the operation, its node, its claim and its limits. A way of waiting derives
// from it, says in work::run_ how its owner is told, and calls in this order
//   enter(context)          on whose behalf, if that is known
//   ready()                 stopped, or decided at once? If not:
//   enqueue()               true: queued, and the owner will be told. From here until then nothing of the
//                           wait may be touched by its starter. False: decided meanwhile
//   enqueue_again()         once told: true, queued again
//   finish()                the limits are disarmed; then outcome() and take()
// or, for an owner that goes away while it is queued or granted, abandon().

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <weir/core/assert.hpp>
#include <weir/core/completion.hpp>
#include <weir/core/context.hpp>
#include <weir/core/operation.hpp>
#include <weir/core/result.hpp>
#include <weir/wait/limits.hpp>

namespace weir::wait {

/// Of an operation. A build without checks describes it as unchecked, and so it stays until it suspends: each store
/// delays the next atomic step.
enum class phase : std::uint8_t { described, unchecked, spent, suspended };

/// An operation that is not over when it is decided (core/operation.hpp).
template <class Op>
concept settling = requires(Op& op, typename Op::node& node, core::waiter* winner, core::completion& list) {
  { op.settle(node, winner, list) } noexcept -> std::same_as<bool>;
};

/// An operation whose owner looks at what it has come to, and may wait again.
template <class Op>
concept repeating = requires(Op& op, typename Op::node& node, core::outcome verdict) {
  { op.again(node, verdict) } noexcept -> std::same_as<bool>;
};

template <core::waitable Op, unsigned Limits>
class wait_state : private time_limit<Limits & timed>,
                   private stop_limit<(Limits & stop_on) != 0, wait_state<Op, Limits>>,
                   public std::conditional_t<settling<Op>, core::settling_claim, core::claim> {
 public:
  using value_type = typename Op::value_type;
  using node = typename Op::node;

  template <class... Described>
  explicit wait_state(Op op, Described&&... described) noexcept
      : op_(std::move(op)), node_(std::forward<Described>(described)...) {}

  struct taking_over {};

  /// Takes over what was described; `unstarted` has waited for nothing yet. Limits may be added.
  template <unsigned Fewer>
  wait_state(taking_over, wait_state<Op, Fewer>&& unstarted) noexcept
      : op_(std::move(unstarted.op_)), node_(std::move(unstarted.node_)) {
    if constexpr ((Fewer & timed) != 0) this->take_over(static_cast<time_limit<Fewer & timed>&>(unstarted));
    if constexpr ((Fewer & stop_on) != 0) this->token = std::move(unstarted.token);
  }
  wait_state(wait_state&& unstarted) noexcept : wait_state(taking_over{}, std::move(unstarted)) {}

  void limit_within(core::duration longest) noexcept { time_part::limit_within(longest); }
  void limit_until(core::time_point latest) noexcept { time_part::limit_until(latest); }
  void limit_stop(platform::stop_token stop) noexcept { this->token = std::move(stop); }

  void enter(core::context& where) {
    if constexpr (requires { node_.enter(where); }) node_.enter(where);
    time_part::enter(where);
  }

  /// Without a time limit the start of a wait cannot fail. With one it throws if no timers can be started.
  static constexpr bool starts_without_fail = (Limits & timed) == 0;

  /// The order of the checks is the order of the outcomes: cancelled, closed, would_deadlock, granted, timed_out.
  [[gnu::always_inline]] bool ready() noexcept(starts_without_fail) {
    node_.wait = this;
    return stopped() || op_.try_now(node_) == core::answer::done || timed_out(this->expired_at_once());
  }

  /// Of an owner that waits again as often as it has to. Another says when it has given up meanwhile: errc::cancelled.
  struct wants_to {
    bool operator()() const noexcept { return false; }
  };

  template <class Withdrawn = wants_to>
  bool enqueue(Withdrawn withdrawn = {}) noexcept {
    return queue_up() || enqueue_again(withdrawn);
  }

  /// By the owner, in its own place, once it was told. True: it waits again, and nothing of the wait may be touched.
  /// False: what it has come to stands.
  template <class Withdrawn = wants_to>
  bool enqueue_again([[maybe_unused]] Withdrawn withdrawn = {}) noexcept {
    if constexpr (repeating<Op>) {
      for (finish(); op_.again(node_, this->verdict()); finish()) {
        this->reset();
        if ((withdrawn() && this->decide(core::outcome::cancelled)) || stopped() || timed_out(this->expired()))
          return false;
        if (queue_up()) return true;
      }
    }
    return false;
  }

  /// By whoever withdraws it. True: decided by this call, and the owner has been told or will be.
  bool give_up(core::outcome verdict) noexcept {
    if (!this->decide_to_leave(verdict)) return false;
    if (this->arrive()) leave(*this);
    return true;
  }

  void finish() noexcept {
    if constexpr ((Limits & timed) != 0) {
      if (!this->leaving() || this->verdict() != core::outcome::timed_out) this->disarm();  // else it has fired
    }
    if constexpr ((Limits & stop_on) != 0) this->registration.reset();
  }

  [[nodiscard]] core::outcome outcome() const noexcept {
    if constexpr (settling<Op>) {
      return op_.outcome(node_, this->verdict());
    } else {
      return this->verdict();
    }
  }

  auto take() { return op_.take(node_); }

  /// For a wait of another kind: what was described, and has not been waited for.
  Op&& described_op() noexcept { return std::move(op_); }
  node&& described_node() noexcept { return std::move(node_); }

  /// For a wait that outlives the expression that it was said in: what it refers to comes along.
  void take_along() noexcept {
    if constexpr (requires { op_.take_along(); }) op_.take_along();
  }

  /// After finish(): what it has come to.
  result<value_type> take_outcome() {
    if (outcome() != core::outcome::granted) {
      if constexpr (requires { op_.unused(); }) op_.unused();
      return static_cast<errc>(outcome());
    }
    if constexpr (std::is_void_v<decltype(take())>) {
      take();
      return {};
    } else if constexpr (std::is_same_v<decltype(take()), result<value_type>>) {
      return take();
    } else {
      return result<value_type>(std::in_place, take());
    }
  }

  /// Takes a wait back whose owner goes away: out of the queue or, if it is decided already, off the
  /// executor that was told; an undelivered grant is given back.
  void abandon(executor_ref told) noexcept {
    if (withdraw()) {
      finish();
      return;
    }
    // Its decider is about to post it. What that has begun comes first: an executor that goes takes back everything.
    for (platform::spinner spin; !step_back() && !told.retract(*this);) spin.step();
    finish();
    give_back();
  }

  /// After finish(): what was granted and is not delivered. False: that cannot be taken back, and stands.
  bool give_back() noexcept {
    if (settling<Op> || this->verdict() == core::outcome::granted) return core::given_back(op_, node_);
    return true;
  }

  /// Out of the queue. False: it is decided already.
  bool withdraw() noexcept {
    core::completion others;
    if (this->raced_by() == core::deciders::lock_holder) return !this->decided() && op_.withdraw(node_, others);
    if (!this->decide(core::outcome::cancelled)) return false;
    op_.withdraw(node_, others);
    return true;
  }

 protected:
  ~wait_state() = default;

  // Of the operation that it belongs to; first, where the claim leaves room.
  phase phase_ = WEIR_CHECKED ? phase::described : phase::unchecked;

 private:
  template <core::waitable, unsigned>
  friend class wait_state;
  template <bool, class>
  friend struct stop_limit;

  using time_part = time_limit<Limits & timed>;

  using stop_part = stop_limit<(Limits & stop_on) != 0, wait_state>;

  static constexpr bool lets_go = requires(Op& op, node& queued) { op.queued(queued); };
  static constexpr bool arms = (Limits & limited) != 0 || settling<Op>;  // its starter is not done when it is queued

  struct nothing {};
  using letting_go =
      std::conditional_t<lets_go, core::flat_loop::scope, nothing>;  // bare code that it lets through waits

  bool queue_up() noexcept {
    [[maybe_unused]] const letting_go afterwards;
    core::completion others;
    if constexpr (!arms) {
      return op_.start(node_, others) == core::answer::queued;
    } else {
      this->raced_by(core::deciders::anybody);
      this->start_arming();
      if constexpr (settling<Op>) {
        this->settle_ = [](core::settling_claim& decided, core::completion& list) noexcept {
          auto& self = static_cast<wait_state&>(decided);
          return self.op_.settle(self.node_, decided.winner(), list);
        };
      }
      arm();  // before it is queued: a limit that ends before the grant is made wins, however short the time between
      const core::answer started = op_.start(node_, others);
      if (started == core::answer::done) return false;
      if constexpr (lets_go) {
        if (started == core::answer::queued) op_.queued(node_);
      }
      if (this->finish_arming()) return true;
      if (this->leaving()) op_.withdraw(node_, others);
      return !this->settle(others);
    }
  }

  bool stopped() noexcept {
    if constexpr ((Limits & stop_on) != 0) {
      return this->token.stop_requested() && this->decide(core::outcome::cancelled);
    } else {
      return false;
    }
  }

  bool timed_out(bool expired) noexcept { return expired && this->decide(core::outcome::timed_out); }

  bool step_back() noexcept {
    if constexpr (requires { op_.step_back(node_); }) {
      return op_.step_back(node_);
    } else {
      return false;
    }
  }

  void arm() noexcept {
    if constexpr ((Limits & timed) != 0) {
      time_part::arm([](core::timer& t) noexcept -> core::timer::fire_function {
        if (!of(t).decide_to_leave(core::outcome::timed_out)) return nullptr;
        return [](core::timer& won) noexcept {
          if (of(won).arrive()) leave(of(won));
        };
      });
    }
    if constexpr ((Limits & stop_on) != 0) {
      this->registration.emplace(this->token, typename stop_part::on_stop{this});
    }
  }

  static wait_state& of(core::timer& t) noexcept { return static_cast<wait_state&>(static_cast<time_part&>(t)); }

  /// Withdrawn by a claim that was won: out of the queue, those behind served, then the owner told.
  static void leave(wait_state& decided) noexcept {
    core::completion done;
    decided.op_.withdraw(decided.node_, done);
    done.add(decided);
  }

  Op op_;
  node node_;
};

}  // namespace weir::wait
