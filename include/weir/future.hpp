#pragma once

// promise<T> and future<T>: one value, or one exception, from whoever makes it to whoever waits for it.
//
// Who may call: any member from any thread; one object's moves and its destruction are its owner's alone.
// Order: one future, one value: who gets it first has it.
// Cancellation: a get() that gave up has taken nothing and may be called again.
// Completions: a waiter goes on where it belongs (its executor, its own thread, or the flat loop of the thread that
// set the promise).

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

/// What a promise and its future share. Of a task that makes the value: what it is told by.
template <class T>
class future_state : public task_end {
 public:
  static constexpr int self_made = 2;  // users: its future, and a task, which makes the value, until it has ended

  explicit future_state(int user_count = 1) noexcept : users_(user_count) {}

  void use() noexcept { users_.add(); }
  void drop() noexcept {
    if (users_.leave()) delete this;
  }

  /// Whoever sets it claims it first. False: it was set before.
  bool claim() noexcept {
    return !claimed_.exchange(true, std::memory_order_acquire);
  }  // acquire: pairs with unclaim()
  [[nodiscard]] bool claimed() const noexcept { return claimed_.load(std::memory_order_relaxed); }
  /// By one whose value could not be moved: the next to set it finds what that has left.
  void unclaim() noexcept { claimed_.store(false, std::memory_order_release); }  // release: pairs with claim()

  /// First the value, whose move may throw, or the exception; then the telling.
  template <class... Value>
  void store(Value&&... value) {
    made_.set(std::forward<Value>(value)...);
  }
  void failed(std::exception_ptr thrown) noexcept final { made_.fail(std::move(thrown)); }
  [[nodiscard]] bool has_failed() const noexcept { return made_.has_failed(); }
  void tell() noexcept { ready_.set(); }
  void abandon() noexcept { ready_.close(); }

  /// By its task, which has ended: tells whoever has the future, if anybody has.
  void tell_others() noexcept {
    if (!users_.alone()) tell();
  }

  [[nodiscard]] event& ready() noexcept { return ready_; }
  [[nodiscard]] const event& ready() const noexcept { return ready_; }

  result<T> take() {
    if (taken_.exchange(true, std::memory_order_relaxed)) {  // relaxed: ready() has ordered what it guards
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

/// One user of a state.
template <class State>
class shared {
 public:
  shared() noexcept = default;
  /// Takes over a use that is counted already.
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

/// Dropping it detaches: it stops nothing.
template <class T = void>
class [[nodiscard("dropping a future detaches what makes its value")]] future {
  using state = core::future_state<T>;

 public:
  /// What success yields.
  using value_type = T;

  /// Of nothing: valid() is false.
  future() noexcept = default;
  explicit future(core::shared<state> shared) noexcept : state_(std::move(shared)) {}
  future(future&&) noexcept = default;
  future& operator=(future&&) noexcept = default;
  ~future() = default;

  /// It belongs to a promise, or did.
  [[nodiscard]] bool valid() const noexcept { return static_cast<bool>(state_); }

  /// get() would not wait: the value, the exception, or the promise's end is there.
  [[nodiscard]] bool ready() const noexcept { return state_ && (state_->ready().is_set() || state_->ready().closed()); }

  class get_op;

  /// Waits for the value, which can be had once. The exception is rethrown, or in a result is its exception(). Fails
  /// with errc::closed if the promise was dropped. Throws std::logic_error where it is called if this future is empty.
  auto get();

  /// In the way of a completion token of Asio's, with <weir/asio.hpp> or <weir/boost_asio.hpp>.
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
  static constexpr bool rethrows = true;  // take() may give any exception

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

/// Dropped unset, its future gets errc::closed.
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

  /// It can still be set: it was neither set nor moved away.
  [[nodiscard]] bool pending() const noexcept { return state_ && !state_->claimed(); }

  /// Once: throws std::logic_error the second time.
  future<T> get_future() {
    check_state();
    if (has_future_) throw std::logic_error("weir::promise::get_future: its future has been given out already");
    has_future_ = true;
    return future<T>(state_);
  }

  /// Once, this or set_exception: throws std::logic_error the second time.
  template <class... Value>
    requires(std::is_void_v<T> ? sizeof...(Value) == 0 : sizeof...(Value) == 1)
  void set_value(Value&&... value) {
    if constexpr (std::is_void_v<T> || (std::is_nothrow_constructible_v<T, Value> && ...)) {
      settle([&](state& made) { made.store(std::forward<Value>(value)...); });
    } else {
      T ready(std::forward<Value>(value)...);  // before it is claimed: if this throws, another may still set it
      settle([&](state& made) { made.store(std::move(ready)); });
    }
  }
  /// Once, this or set_value. Throws std::invalid_argument, and changes nothing, if there is none.
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
    const auto kept = state_;  // whoever is told may drop this promise
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
