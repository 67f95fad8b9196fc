#pragma once

// promise<T> and future<T>: one value, or one exception, from a producer to a consumer.
//
// Who may call: every member may be called from any thread; only the owner of an object may move or destroy it.
// Order: one future, one value: the first get() to succeed takes it.
// Cancellation: a get() that gave up has taken nothing and may be called again.
// Completions: a waiter resumes on its executor, its own thread, or the flat loop of the thread that set the promise.

#include <exception>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <weir/core/atomic.hpp>
#include <weir/core/made.hpp>
#include <weir/core/operation.hpp>
#include <weir/core/result.hpp>
#include <weir/core/task_end.hpp>
#include <weir/core/users.hpp>
#include <weir/event.hpp>
#include <weir/wait/operation.hpp>

namespace weir {

namespace core {

/// The shared state of a promise and its future. A spawned task reports its end to it directly.
template <class T>
class future_state : public task_end {
 public:
  static constexpr int self_made = 2;  // users: the future, and the task that makes the value, until it has ended

  explicit future_state(int user_count = 1) noexcept : users_(user_count) {}

  void use() noexcept { users_.add(); }
  void drop() noexcept {
    if (users_.leave()) delete this;
  }

  /// Claims the right to set it. Returns false if it was set before.
  // acquire: pairs with unclaim()
  bool claim() noexcept { return !claimed_.exchange(true, std::memory_order_acquire); }
  [[nodiscard]] bool claimed() const noexcept { return claimed_.load(std::memory_order_relaxed); }  // a snapshot
  /// Called if moving the value has thrown: the next party to claim it sees what that left behind.
  void unclaim() noexcept { claimed_.store(false, std::memory_order_release); }  // release: pairs with claim()

  /// Stores the value, whose move may throw; failed() stores an exception. Then tell() notifies.
  template <class... Value>
  void store(Value&&... value) {
    made_.set(std::forward<Value>(value)...);
  }
  void failed(std::exception_ptr thrown) noexcept final { made_.fail(std::move(thrown)); }
  [[nodiscard]] bool has_failed() const noexcept { return made_.has_failed(); }
  void tell() noexcept { ready_.set(); }
  void abandon() noexcept { ready_.close(); }

  /// Called by the task at its end: notifies the future, if there still is one.
  void tell_others() noexcept {
    if (!users_.alone()) tell();
  }

  [[nodiscard]] event& ready() noexcept { return ready_; }
  [[nodiscard]] const event& ready() const noexcept { return ready_; }

  result<T> take() {
    if (taken_.exchange(true, std::memory_order_relaxed)) {  // relaxed: the wait on ready() orders what it guards
      return result<T>::failure(
          std::make_exception_ptr(std::logic_error("weir::future::get: the value has been taken already")));
    }
    return take_result(made_);
  }

 protected:
  virtual ~future_state() = default;

 private:
  users users_;
  platform::atomic<bool> claimed_{false};
  platform::atomic<bool> taken_{false};
  event ready_;
  made<T> made_;
};

/// A counted reference to a state.
template <class State>
class shared {
 public:
  shared() noexcept = default;
  /// Takes over a reference that is counted already.
  explicit shared(State* used) noexcept : state_(used) {}
  shared(const shared& other) noexcept : state_(other.state_) {
    if (state_ != nullptr) state_->use();
  }
  shared(shared&& from) noexcept : state_(std::exchange(from.state_, nullptr)) {}
  shared& operator=(shared from) noexcept {
    std::swap(state_, from.state_);
    return *this;
  }
  ~shared() {
    if (state_ != nullptr) state_->drop();
  }

  explicit operator bool() const noexcept { return state_ != nullptr; }
  State* operator->() const noexcept { return state_; }
  State& operator*() const noexcept { return *state_; }

 private:
  State* state_ = nullptr;
};

}  // namespace core

/// The consumer's end. Dropping it detaches the producer and stops nothing.
template <class T = void>
class [[nodiscard("dropping a future detaches what makes its value")]] future {
  using state = core::future_state<T>;

 public:
  /// The type of the value.
  using value_type = T;

  /// Creates an empty future: valid() is false.
  future() noexcept = default;
  explicit future(core::shared<state> shared) noexcept : state_(std::move(shared)) {}
  future(future&&) noexcept = default;
  future& operator=(future&&) noexcept = default;
  ~future() = default;

  /// Returns whether it is not empty: it has, or had, a promise or a task.
  [[nodiscard]] bool valid() const noexcept { return static_cast<bool>(state_); }

  /// Returns whether get() would not wait: the value or the exception is set, or the promise was dropped.
  [[nodiscard]] bool ready() const noexcept { return state_ && (state_->ready().is_set() || state_->ready().closed()); }

  class get_op;

  /// Waits for the value, which can be taken once. An exception is rethrown, or is the exception() of a result. Fails
  /// with errc::closed if the promise was dropped. Throws std::logic_error at the call if this future is empty.
  auto get();

  /// The Asio spelling: get()(token). Needs <weir/asio.hpp> or <weir/boost_asio.hpp>.
  template <class Token>
  decltype(auto) async_get(Token&& token) {
    return get()(std::forward<Token>(token));
  }

 private:
  core::shared<state> state_;
};

template <class T>
class future<T>::get_op {
 public:
  using value_type = T;
  using node = event::wait_op::node;
  static constexpr bool rethrows = true;  // take() may yield any exception

  explicit get_op(core::shared<state> shared) noexcept : state_(std::move(shared)), ready_(state_->ready()) {}

  core::answer try_now(node& asking) noexcept { return ready_.try_now(asking); }
  core::answer start(node& starting, core::completion& done) noexcept { return ready_.start(starting, done); }
  bool withdraw(node& queued, core::completion& done) noexcept { return ready_.withdraw(queued, done); }
  void give_back(node&) noexcept {}  // the value stays where it is until it is taken
  result<T> take(node&) { return state_->take(); }

 private:
  core::shared<state> state_;
  event::wait_op ready_;
};

template <class T>
auto future<T>::get() {
  if (!state_) throw std::logic_error("weir::future::get: an empty future has nothing to wait for");
  return operation<get_op>(get_op(state_));
}

namespace core {
template <class T>
class promised;
}

/// The producer's end. If it is dropped unset, its future gets errc::closed.
template <class T = void>
class promise {
  using state = core::future_state<T>;

 public:
  promise() : state_(new state) {}
  promise(promise&& from) noexcept = default;
  promise& operator=(promise&& from) noexcept {
    promise taken(std::move(from));
    std::swap(state_, taken.state_);
    std::swap(has_future_, taken.has_future_);
    return *this;
  }
  ~promise() {
    if (state_ && !state_->claimed()) state_->abandon();
  }

  /// Returns whether it can still be set: it was neither set nor moved from.
  [[nodiscard]] bool pending() const noexcept { return state_ && !state_->claimed(); }

  /// Returns the future. Throws std::logic_error the second time.
  future<T> get_future() {
    check_state();
    if (has_future_) throw std::logic_error("weir::promise::get_future: its future has been given out already");
    has_future_ = true;
    return future<T>(state_);
  }

  /// Sets the value. Throws std::logic_error if a value or an exception was set before.
  template <class... Value>
    requires(std::is_void_v<T> ? sizeof...(Value) == 0 : sizeof...(Value) == 1)
  void set_value(Value&&... value) {
    if constexpr (std::is_void_v<T> || (std::is_nothrow_constructible_v<T, Value> && ...)) {
      settle([&](state& made) { made.store(std::forward<Value>(value)...); });
    } else {
      T ready(std::forward<Value>(value)...);  // before the claim: if this throws, it can still be set
      settle([&](state& made) { made.store(std::move(ready)); });
    }
  }
  /// Sets the exception. Throws std::logic_error as set_value() does, and std::invalid_argument, changing nothing, if
  /// `thrown` is null.
  void set_exception(std::exception_ptr thrown) {
    if (!thrown) throw std::invalid_argument("weir::promise::set_exception: a null exception_ptr is no exception");
    settle([&](state& made) { made.failed(std::move(thrown)); });
  }

 private:
  friend class core::promised<T>;

  void check_state() const {
    if (!state_) throw std::logic_error("weir::promise: it was moved away");
  }

  template <class Store>
  void settle(Store store) {
    check_state();
    const auto kept = state_;  // a notified waiter may destroy this promise
    if (!kept->claim()) throw std::logic_error("weir::promise: it was set already");
    try {
      store(*kept);
    } catch (...) {
      kept->unclaim();
      throw;
    }
    kept->tell();
  }

  core::shared<state> state_;
  bool has_future_ = false;
};

}  // namespace weir
