#pragma once

// An operation describes what to wait for, its limits, and how to wait, from left to right:
//
//   co_await sem.acquire(2).within(50ms);
//   sem.acquire(2).stop_on(token).wait();
//   auto ticket = sem.acquire(2).start([](weir::result<> r) { … });
//
// Nothing happens until it is waited on. It can be moved until then, and is waited on once. It is its own awaiter: a
// waiting coroutine stores nothing but the operation.

#include <coroutine>
#include <exception>
#include <system_error>
#include <type_traits>
#include <utility>

#include <weir/core/assert.hpp>
#include <weir/core/chrono.hpp>
#include <weir/core/context.hpp>
#include <weir/core/frame.hpp>
#include <weir/core/front.hpp>
#include <weir/core/operation.hpp>
#include <weir/core/park.hpp>
#include <weir/core/result.hpp>
#include <weir/wait/callback.hpp>
#include <weir/wait/limits.hpp>
#include <weir/wait/wait_state.hpp>

namespace weir {

namespace wait {

template <class... Branch>
class select_op;

/// The default place where the owner resumes: its own context or, if it has none, the flat loop.
class own_context {
 public:
  void enter(core::context& where) noexcept { context_ = &where; }
  [[nodiscard]] executor_ref executor() const noexcept {
    return context_ != nullptr ? context_->executor : executor_ref();
  }
  [[nodiscard]] const core::context* context() const noexcept { return context_; }
  /// Whether the owner has to be resumed there even if the wait is decided at once.
  [[nodiscard]] bool elsewhere() const noexcept { return context_ != nullptr && context_->away; }
  void arrived() noexcept {
    if (elsewhere()) context_->away = false;  // a store would take the cache line from the party that wakes it next
  }

 private:
  core::context* context_ = nullptr;
};

/// The place that resume_on named.
class named_executor {
 public:
  explicit named_executor(executor_ref named) noexcept : executor_(named) {}
  void enter(core::context& where) noexcept { left_ = &where; }
  [[nodiscard]] executor_ref executor() const noexcept { return executor_; }
  [[nodiscard]] const core::context* context() const noexcept { return left_; }
  [[nodiscard]] bool elsewhere() const noexcept { return true; }
  void arrived() noexcept {
    if (left_ != nullptr) left_->away = true;
  }

 private:
  executor_ref executor_;
  core::context* left_ = nullptr;
};

/// Customization point: specialized for executors that are copied. `type` is a class like named_executor.
template <class E>
struct named_copy {};
template <class E>
concept copied_executor = requires { typename named_copy<E>::type; };

/// The access of a front (core/front.hpp) to an operation.
struct for_front {
  /// Returns the description; the operation then counts as waited on. where() returns where the owner resumes.
  template <class Operation>
  static typename Operation::state&& description(Operation& described) noexcept {
    return described.description();
  }
  template <class Operation>
  static auto where(const Operation& described) noexcept {
    return described.where_;
  }
  /// Prepares an operation that outlives the expression that describes it.
  template <class Operation>
  static Operation&& taking_along(Operation& described) noexcept {
    described.take_along();
    return std::move(described);
  }
};
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_failure(core::outcome failure) {
  throw std::system_error(make_error_code(static_cast<errc>(failure)));
}

}  // namespace wait

/// The description of one wait. Op is defined by the synchronizer (core/operation.hpp), Limits and Where by the caller.
template <core::waitable Op, unsigned Limits = wait::none, class Where = wait::own_context>
class [[nodiscard("an operation does nothing until it is waited on: co_await it, or call wait() or start()")]] operation
    : private wait::wait_state<Op, Limits> {
  static constexpr bool moves = !std::is_same_v<Where, wait::own_context>;  // resume_on was used
  static constexpr bool reports = (Limits & wait::reports) != 0;

 public:
  /// The type that success yields, and the base class that waits.
  using value_type = typename Op::value_type;
  using state = wait::wait_state<Op, Limits>;

  /// The type that co_await and wait() return: the value, or a result if the operation has a limit or as_result().
  using outcome_type = std::conditional_t<reports, result<value_type>, value_type>;

  /// Called by a synchronizer with what to wait for, and the arguments of its node.
  template <class... Described>
  explicit operation(Op op, Described&&... described) noexcept
      : state(std::move(op), std::forward<Described>(described)...) {}

  operation(operation&& unstarted) noexcept : state(unstarted.description()), where_(unstarted.where_) {}

  [[gnu::always_inline]] ~operation() {
    WEIR_ASSERT(this->phase_ != wait::phase::described || std::uncaught_exceptions() > 0 ||
                    core::unfinished_frame::is_being_destroyed(),
                "an operation was destroyed without ever having been waited on: is a co_await missing?");
    if (this->phase_ == wait::phase::suspended) this->abandon(where_.executor());
  }

  // Limits. Each may be used once.

  /// Limits the time of the wait, counted from its start: then it fails with errc::timed_out. With zero or less it
  /// takes what is available at once, and never waits.
  template <class Rep, class Period>
  auto within(std::chrono::duration<Rep, Period> longest) && {
    auto limited = std::move(*this).template with<wait::within>();
    limited.limit_within(wait::saturated(longest));
    return limited;
  }

  /// Sets the latest time of the wait: then it fails with errc::timed_out.
  auto until(std::chrono::steady_clock::time_point latest) && {
    auto limited = std::move(*this).template with<wait::until>();
    limited.limit_until(latest);
    return limited;
  }

  /// The wait fails with errc::cancelled when a stop is requested. If it is requested already, the operation never
  /// waits, and takes nothing.
  auto stop_on(platform::stop_token token) && {
    auto limited = std::move(*this).template with<wait::stop_on>();
    limited.limit_stop(std::move(token));
    return limited;
  }

  /// Reports a failure in a result instead of throwing it.
  auto as_result() && { return std::move(*this).template with<wait::as_result>(); }

  /// The coroutine or callback resumes there, this one time, even if the wait is decided at once.
  template <executor E>
  auto resume_on(E& where) && {
    static_assert(!moves, "resume_on was said of this operation already");
    return operation<Op, Limits, wait::named_executor>(description(), wait::named_executor(where));
  }
  template <class E>
    requires wait::copied_executor<E>
  auto resume_on(const E& where) && {
    static_assert(!moves, "resume_on was said of this operation already");
    using named = typename wait::named_copy<E>::type;
    return operation<Op, Limits, named>(description(), named(where));
  }
  /// Resumes on the executor of an Asio execution context.
  template <core::front_context C>
  auto resume_on(C& context) && {
    return std::move(*this).resume_on(as_executor(core::front_tag(), context));
  }

  // Ways of waiting.

  /// Blocks this thread, and has the same outcome as co_await.
  outcome_type wait() && {
    begin();
    core::context here({}, core::blocking_owner(), {});
    state::enter(here);
    if (!this->ready()) block();
    return report();
  }

  /// Calls callback(result<value_type>) exactly once, possibly before this returns.
  template <class Callback>
    requires std::is_invocable_v<Callback&, result<value_type>>
  ticket start(Callback callback) && {
    static_assert(!core::stages<Op>::repeats, "condition::wait is for co_await and wait(): its waiter holds a guard");
    return wait::callback_wait<Op, Limits, Where, Callback>::start(description(), where_, std::move(callback));
  }

  /// Waits with any Asio completion token. Needs <weir/asio.hpp> or <weir/boost_asio.hpp>.
  template <class Token>
    requires core::completion_token<Token, operation>
  auto operator()(Token&& completes) && -> decltype(initiate(core::front_tag(), std::declval<operation>(),
                                                             std::declval<Token>())) {
    return initiate(core::front_tag(), std::move(*this), std::forward<Token>(completes));
  }
  /// Refuses anything else with a compile error that states what is missing or does not fit.
  template <class Token>
  void operator()(Token&&) && {
    if constexpr (core::front_refuses<operation>) {
      refuse(core::front_tag(), std::move(*this));
    } else {
      static_assert(core::completion_token<Token, operation>,
                    "this is no completion token here: include <weir/asio.hpp> or <weir/boost_asio.hpp>");
    }
  }

  // co_await, in a coroutine of any type.

  /// Called by the await_transform of a coroutine type that has a context.
  void enter(core::context& where) {
    state::enter(where);
    where_.enter(where);
  }

  [[gnu::always_inline]] bool await_ready() noexcept(state::starts_without_fail) {
    begin();
    return !where_.elsewhere() && this->ready();
  }

  bool await_suspend(std::coroutine_handle<> owner) noexcept(state::starts_without_fail) {
    const bool elsewhere = where_.elsewhere();
    const bool decided = elsewhere && this->ready();
    owner_ = owner.address();
    this->run_ = &told;
    this->phase_ = wait::phase::suspended;
    if (!decided && this->enqueue()) return true;
    if (elsewhere) {
      resume_owner();
    } else {
      this->phase_ = wait::phase::spent;
    }
    return elsewhere;
  }

  [[gnu::always_inline]] outcome_type await_resume() {
    if (this->phase_ == wait::phase::suspended) {
      where_.arrived();
      this->phase_ = wait::phase::spent;
    }
    return report();
  }

 private:
  template <core::waitable, unsigned, class>
  friend class operation;
  template <class...>
  friend class wait::select_op;
  friend wait::for_front;

  operation(state&& described, Where where) noexcept : state(std::move(described)), where_(where) {}
  template <unsigned Fewer>
  operation(wait::wait_state<Op, Fewer>&& described, Where where) noexcept
      : state(typename state::taking_over{}, std::move(described)), where_(where) {}

  void begin() noexcept {
    WEIR_ASSERT(this->phase_ == wait::phase::described || this->phase_ == wait::phase::unchecked,
                "an operation is waited on once: this one was used already");
    if (this->phase_ == wait::phase::described) this->phase_ = wait::phase::spent;
  }

  state&& description() noexcept {
    begin();
    return std::move(*this);
  }

  template <unsigned Limit>
  auto with() && {
    static_assert((Limits & Limit) == 0, "each of within, until, stop_on and as_result may be said once");
    using limited = operation<Op, (Limits | Limit), Where>;
    return limited(description(), where_);
  }

  static operation& of(work& told) noexcept { return static_cast<operation&>(told); }

  static void told(work& decided) noexcept { of(decided).resume_owner(); }

  void resume_owner() noexcept {
    this->run_ = [](work& posted) noexcept {
      auto& self = of(posted);
      if (self.enqueue_again(&told)) return;
      const core::running_task resumed(self.where_.context());
      std::coroutine_handle<>::from_address(self.owner_).resume();
    };
    where_.executor().post(*this);
  }

  void block() noexcept {
    platform::parker sleeper;
    owner_ = &sleeper;
    this->run_ = [](work& told) noexcept { static_cast<platform::parker*>(of(told).owner_)->unpark(); };
    auto& loop = core::flat_loop::current();
    loop.run();  // the work behind this completion must not wait for this thread, nor queue behind it
    for (bool queued = this->enqueue(); queued; queued = this->enqueue_again(this->run_)) {
      loop.run();  // the waiters that enqueue() has granted
      core::park(sleeper);
    }
  }

  [[gnu::always_inline]] outcome_type report() {
    this->finish();
    if constexpr (reports) {
      return this->take_outcome();
    } else {
      if (this->outcome() != core::outcome::granted) wait::throw_failure(this->outcome());
      if constexpr (std::is_same_v<decltype(this->take()), result<value_type>>) {
        return this->take().value();
      } else {
        return this->take();
      }
    }
  }

  void* owner_;  // the suspended coroutine, or the parker of the blocked thread
  Where where_;
};

}  // namespace weir
