// op(token): a wait whose owner is an Asio completion handler.

#include <concepts>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include <weir/core/context.hpp>
#include <weir/core/result.hpp>
#include <weir/wait/operation.hpp>
#include <weir/wait/wait_state.hpp>

namespace weir {

namespace front::inline WEIR_FRONT {

/// A wait that calls a handler. Derived owns the handler's place(), which knows its executor, and the memory of the
/// wait: release() moves the handler out, and after it nothing of the wait may be accessed.
template <class Op, unsigned Limits, class Derived>
class handler_wait : private wait::wait_state<Op, Limits>, private core::tenant {
 protected:
  using state = wait::wait_state<Op, Limits>;

  explicit handler_wait(state&& described) noexcept
      : state(std::move(described)),
        tenant([](core::tenant& evicted) noexcept { static_cast<handler_wait&>(evicted).destroy_pending(); }) {}
  ~handler_wait() = default;

  void begin() noexcept {
    if (!place().where().enlist(*this)) {
      self().release();  // the context is being destroyed, and the handler with it
      return;
    }
    this->run_ = &post_wait;
    const bool decided = ready();  // first: a function that it runs, as a barrier's, may fire the slot
    if (auto cancels = net::get_associated_cancellation_slot(place().handler); cancels.is_connected()) {
      this->set_deciders(core::deciders::anybody);
      cancels.template emplace<on_slot>(on_slot{this});
    }
    if (decided || !this->enqueue([this] { return taken_back(); })) post();
  }

  /// Returns the description of a wait that has not started.
  state&& unstarted() noexcept { return std::move(*this); }

 private:
  struct on_slot {
    handler_wait* wait;
    void operator()(net::cancellation_type type) const noexcept {
      if (type != net::cancellation_type::none) wait->cancel();
    }
  };

  /// An exception from the start (no timer thread can be started, no memory) reaches the handler as an error.
  bool ready() noexcept {
    try {
      core::context where(place().where(), {}, {});
      state::enter(where);
      return state::ready();
    } catch (const std::system_error&) {
      not_started_ = std::errc::resource_unavailable_try_again;
    } catch (...) {
      not_started_ = std::errc::not_enough_memory;
    }
    return true;
  }

  static handler_wait& of(work& told) noexcept { return static_cast<handler_wait&>(static_cast<state&>(told)); }
  Derived& self() noexcept { return static_cast<Derived&>(*this); }
  auto& place() noexcept { return self().place(); }

  static void post_wait(work& notified) noexcept { of(notified).post(); }

  void post() noexcept {
    this->run_ = [](work& posted) noexcept { of(posted).complete(); };
    place().where().post(*this);
  }

  /// Called by the slot. If the wait is decided already, its grant, if any, is given back where that is possible.
  void cancel() noexcept {
    if (!this->give_up(core::outcome::cancelled)) taken_back_.store(true, std::memory_order_relaxed);
    // relaxed: the slot fires where the handler runs, or its user orders it before the handler
  }
  [[nodiscard]] bool taken_back() const noexcept {
    return taken_back_.load(std::memory_order_relaxed);  // relaxed: see cancel
  }

  void complete() noexcept {
    if (this->enqueue_again(&post_wait, [this] { return taken_back(); })) return;
    retire();
    auto* const thrown = platform::local<thrown_here>().by_handler;
    try {
      deliver();
    } catch (...) {
      if (thrown == nullptr) std::terminate();           // not called by Asio: no run() to throw out of
      if (!*thrown) *thrown = std::current_exception();  // keeps the first, if a nested handler threw
    }
  }

  void deliver() {
    auto outcome = take();
    auto handler = self().release();
    auto error = error_of<Op>(outcome);
    if constexpr (std::is_void_v<typename Op::value_type>) {
      std::move(handler)(std::move(error));
    } else {
      using value = typename handed<typename Op::value_type>::type;
      if (outcome) {
        std::move(handler)(std::move(error), value(std::move(*outcome)));
      } else {
        std::move(handler)(std::move(error), value());
      }
    }
  }

  result<typename Op::value_type> take() {
    if (not_started_ != std::errc()) return std::make_error_code(not_started_);
    if (taken_back() && this->outcome() == core::outcome::granted && this->give_back()) return errc::cancelled;
    try {
      return this->take_outcome();
    } catch (const std::bad_alloc&) {
      return std::make_error_code(std::errc::not_enough_memory);
    } catch (...) {  // the value could not be moved
      return result<typename Op::value_type>::failure(std::current_exception());
    }
  }

  void retire() noexcept {
    this->finish();
    place().where().delist(*this);
    if (auto cancels = net::get_associated_cancellation_slot(place().handler); cancels.is_connected()) cancels.clear();
  }

  /// Destroys the wait with its context: the handler is never called, and a grant is given back.
  void destroy_pending() noexcept {
    this->abandon(place().where());
    place().where().delist(*this);
    if (auto cancels = net::get_associated_cancellation_slot(place().handler); cancels.is_connected()) cancels.clear();
    self().release();
  }

  std::errc not_started_{};
  platform::atomic<bool> taken_back_{false};
};

/// A wait in memory of the handler's allocator.
template <class Op, unsigned Limits, class Handler, template <class> class Place>
class allocated_wait final : private handler_wait<Op, Limits, allocated_wait<Op, Limits, Handler, Place>> {
  using base = handler_wait<Op, Limits, allocated_wait>;
  using allocator = typename std::allocator_traits<decltype(allocator_of(
      std::declval<Handler&>()))>::template rebind_alloc<allocated_wait>;
  using allocating = std::allocator_traits<allocator>;

 public:
  template <class Where, class Given>
  static void start(typename base::state&& described, const Where& where, Given&& handler) {
    allocator memory(allocator_of(handler));
    auto* self = allocating::allocate(memory, 1);
    try {
      ::new (static_cast<void*>(self)) allocated_wait(std::move(described), where, std::forward<Given>(handler));
    } catch (...) {
      allocating::deallocate(memory, self, 1);
      throw;
    }
    self->begin();
  }

 private:
  friend base;

  template <class Where, class Given>
  allocated_wait(typename base::state&& described, const Where& where, Given&& handler)
      : base(std::move(described)), place_(where, std::forward<Given>(handler)) {}
  ~allocated_wait() = default;

  Place<Handler>& place() noexcept { return place_; }

  Handler release() {
    allocator memory(allocator_of(place_.handler));
    Handler handler(std::move(place_.handler));
    this->~allocated_wait();
    allocating::deallocate(memory, this, 1);
    return handler;
  }

  Place<Handler> place_;
};

/// Starts the wait once the token has made its handler.
template <class Op, unsigned Limits, class Where>
class initiation {
 public:
  explicit initiation(operation<Op, Limits, Where>&& described) noexcept : described_(std::move(described)) {}
  initiation(initiation&&) noexcept = default;
  /// Required by Asio's deferred, which calls it only for an lvalue.
  initiation(const initiation& other) noexcept : initiation(std::move(const_cast<initiation&>(other))) {
    static_assert(std::is_void_v<Op>, "an operation is waited on once: std::move the deferred operation");
  }
  initiation& operator=(const initiation&) = delete;
  ~initiation() = default;

  template <class Handler>
  void operator()(Handler&& handler) && {
    const auto where = wait::for_front::where(described_);
    if constexpr (needs_no_context<std::decay_t<Handler>>) {
      if constexpr (std::is_same_v<Where, named_target>) {
        start<in_context>(where.where(), std::forward<Handler>(handler));
      } else {
        start<elsewhere>(where.executor(), std::forward<Handler>(handler));
      }
    } else {
      start<in_context>(net::associated_executor<std::decay_t<Handler>, no_executor>::get(handler, {}),
                        std::forward<Handler>(handler));
    }
  }

 private:
  template <template <class> class Place, class Named, class Handler>
  void start(const Named& where, Handler&& handler) {
    allocated_wait<Op, Limits, std::decay_t<Handler>, Place>::start(wait::for_front::description(described_), where,
                                                                    std::forward<Handler>(handler));
  }

  operation<Op, Limits, Where> described_;
};

template <class Token, class Op, unsigned Limits, class Where>
struct initiation_of {
  using type = initiation<Op, Limits, Where>;
};

#if defined(WEIR_HAS_ASIO_AWAITABLE)
/// The initiation for use_awaitable, which keeps it in the waiting coroutine's frame: so it is also the wait.
template <class Op, unsigned Limits>
class awaited_wait final : private handler_wait<Op, Limits, awaited_wait<Op, Limits>> {
  using base = handler_wait<Op, Limits, awaited_wait>;
  using handler = typename net::async_result<net::use_awaitable_t<any_executor>, signature<Op>>::handler_type;

 public:
  template <class Where>
  explicit awaited_wait(operation<Op, Limits, Where>&& described) noexcept
      : base(wait::for_front::description(described)) {}
  awaited_wait(awaited_wait&& other) noexcept : base(other.unstarted()) {}
  awaited_wait& operator=(awaited_wait&&) = delete;
  ~awaited_wait() = default;

  void operator()(handler&& resumes) && {
    place_.emplace(net::get_associated_executor(resumes), std::move(resumes));
    this->begin();
  }

 private:
  friend base;

  in_context<handler>& place() noexcept { return *place_; }
  handler release() noexcept { return std::move(place_->handler); }

  std::optional<in_context<handler>> place_;
};

template <class Op, unsigned Limits, class Where>
struct initiation_of<net::use_awaitable_t<any_executor>, Op, Limits, Where> {
  using type = awaited_wait<Op, Limits>;
};
#endif

}  // namespace front::inline WEIR_FRONT

namespace core {

template <class Op, unsigned Limits, class Where, class Token>
  requires net::completion_token_for<std::decay_t<Token>, front::signature<Op>>
auto initiate(front_tag, operation<Op, Limits, Where>&& described, Token&& token)
    -> decltype(net::async_initiate<Token, front::signature<Op>>(
        std::declval<typename front::initiation_of<std::decay_t<Token>, Op, Limits, Where>::type>(), token)) {
  static_assert(
      !front::homeless<std::decay_t<Token>, front::signature<Op>> || !std::is_same_v<Where, wait::own_context>,
      "this handler has no executor: give it one with bind_executor(executor, handler), or say "
      "resume_on(executor) of the operation");
  using initiation = typename front::initiation_of<std::decay_t<Token>, Op, Limits, Where>::type;
  return net::async_initiate<Token, front::signature<Op>>(initiation(wait::for_front::taking_along(described)), token);
}

/// Rejects any other token, and names the signature of a handler. The compiler adds the exact Signature.
template <class Op, unsigned Limits, class Where, class Signature = front::signature<Op>, bool Fits = false>
void refuse(front_tag, operation<Op, Limits, Where>&&) {
  if constexpr (front::rethrowing<Op> && std::is_void_v<typename Op::value_type>) {
    static_assert(Fits,
                  "this is no completion token and no handler that fits: a handler of this operation has to have the "
                  "signature void(std::exception_ptr)");
  } else if constexpr (front::rethrowing<Op>) {
    static_assert(Fits,
                  "this is no completion token and no handler that fits: a handler of this operation has to have the "
                  "signature void(std::exception_ptr, value), where value is the operation's value_type, or a "
                  "std::optional of it if that has no default constructor");
  } else if constexpr (std::is_void_v<typename Op::value_type>) {
    static_assert(Fits,
                  "this is no completion token and no handler that fits: a handler of this operation has to have the "
                  "signature void(error_code)");
  } else {
    static_assert(Fits,
                  "this is no completion token and no handler that fits: a handler of this operation has to have the "
                  "signature void(error_code, value), where value is the operation's value_type, or a std::optional of "
                  "it if that has no default constructor");
  }
}

}  // namespace core
}  // namespace weir
