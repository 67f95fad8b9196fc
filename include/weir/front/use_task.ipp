// use_task: a weir::task awaits an Asio operation: co_await socket.async_read_some(buffer, weir::use_task), or any
// deferred one.

#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weir/core/context.hpp>
#include <weir/core/made.hpp>
#include <weir/core/task_end.hpp>
#include <weir/core/work.hpp>
#include <weir/run/task.hpp>

namespace weir {

/// A completion token: makes an Asio operation that a weir::task, or any coroutine, can co_await. co_await returns what
/// the handler would receive after the error; an error is thrown.
struct use_task_t {
  explicit constexpr use_task_t() = default;
};
inline constexpr use_task_t use_task{};

namespace front::inline WEIR_FRONT {

inline void throw_if(const net::net_error& error) {
  if (error) throw net::net_system_error(error);
}
inline void throw_if(const std::exception_ptr& thrown) {
  if (thrown) std::rethrow_exception(thrown);
}
template <class T>
concept failure = std::is_same_v<T, net::net_error> || std::is_same_v<T, std::exception_ptr>;

/// Returns the result of co_await: the handler's arguments after the error, if there is one; several are a tuple.
template <class... Args>
auto awaited(std::tuple<Args...>&& args) {
  if constexpr (sizeof...(Args) == 0) {
    return;
  } else if constexpr (sizeof...(Args) == 1) {
    return std::get<0>(std::move(args));
  } else {
    return std::move(args);
  }
}
template <failure Error, class... Args>
auto awaited(std::tuple<Error, Args...>&& args) {
  throw_if(std::get<0>(args));
  return std::apply([](Error&&, Args&&... rest) { return awaited(std::tuple<Args...>(std::move(rest)...)); },
                    std::move(args));
}

/// The handler of an awaited operation. Handler and awaiter refer to each other; the first to be destroyed notifies the
/// other.
template <class Awaiting>
class telling_handler {
 public:
  explicit telling_handler(Awaiting& by) noexcept : awaits_(&by) { by.handler_ = this; }
  telling_handler(telling_handler&& from) noexcept : awaits_(std::exchange(from.awaits_, nullptr)) {
    if (awaits_ != nullptr) awaits_->handler_ = this;
  }
  telling_handler& operator=(telling_handler&&) = delete;
  ~telling_handler() {
    if (awaits_ != nullptr) awaits_->dropped();
  }

  template <class... Args>
  void operator()(Args&&... args) {
    if (awaits_ != nullptr) std::exchange(awaits_, nullptr)->complete(std::forward<Args>(args)...);
  }

  /// Called by the awaiter, which no longer waits. Returns false if the handler was moved from or called.
  bool forget() noexcept { return std::exchange(awaits_, nullptr) != nullptr; }

 private:
  Awaiting* awaits_;
};

/// A handler that resumes a coroutine, with the coroutine's executor if that is known and an Asio executor.
template <class Awaiting>
class awaiting_handler : public telling_handler<Awaiting> {
 public:
  explicit awaiting_handler(Awaiting& by) noexcept : telling_handler<Awaiting>(by), where_(by.home()) {}

  [[nodiscard]] const std::optional<any_executor>& where() const noexcept { return where_; }

 private:
  std::optional<any_executor> where_;
};

template <class Initiation, class Signature, class... InitArgs>
class awaiting;

/// An Asio operation and the coroutine that awaits it. A coroutine that is destroyed meanwhile is not resumed.
template <class Initiation, class... Args, class... InitArgs>
class [[nodiscard(
    "an operation with use_task does nothing until it is awaited")]] awaiting<Initiation, void(Args...), InitArgs...>
    : private work {
 public:
  template <class I, class... Given>
  explicit awaiting(I&& initiation, Given&&... args)
      : initiation_(std::forward<I>(initiation)), args_(std::forward<Given>(args)...) {}
  awaiting(awaiting&& unstarted) noexcept
      : initiation_(std::move(unstarted.initiation_)),
        args_(std::move(unstarted.args_)),
        context_(unstarted.context_) {}
  ~awaiting() {
    if (handler_ != nullptr) handler_->forget();
    if (posted_) context_->executor.retract(*this);
  }

  /// Called by a coroutine that has a context.
  void enter(core::context& where) noexcept { context_ = &where; }

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> owner) {
    owner_ = owner;
    std::apply([this](InitArgs&... args) { std::move(initiation_)(handler(*this), std::move(args)...); }, args_);
  }
  auto await_resume() { return awaited(std::move(*outcome_)); }

 private:
  using handler = awaiting_handler<awaiting>;
  friend handler;
  friend telling_handler<awaiting>;

  [[nodiscard]] target* host() const noexcept {
    return context_ != nullptr ? context_->executor.template as<target>() : nullptr;
  }
  [[nodiscard]] std::optional<any_executor> home() const {
    return host() != nullptr ? std::optional(host()->where()) : std::nullopt;
  }

  /// Called on the task's own executor if that is an Asio executor, else wherever the operation completes.
  template <class... Given>
  void complete(Given&&... args) {
    handler_ = nullptr;
    outcome_.emplace(std::forward<Given>(args)...);
    if (context_ != nullptr) context_->away = false;
    if (context_ == nullptr || host() != nullptr) {
      resume();
      return;
    }
    this->run_ = [](work& posted) noexcept {
      auto& self = static_cast<awaiting&>(posted);
      self.posted_ = false;
      self.resume();
    };
    posted_ = true;
    context_->executor.post(*this);
  }

  void resume() {
    const core::running_task resumed(context_);
    owner_.resume();
  }

  /// Called when Asio destroys the handler with its context: the coroutine's owner destroys the coroutine.
  void dropped() noexcept { handler_ = nullptr; }

  Initiation initiation_;
  std::tuple<InitArgs...> args_;
  core::context* context_ = nullptr;
  std::coroutine_handle<> owner_;
  telling_handler<awaiting>* handler_ = nullptr;
  bool posted_ = false;  // to an executor that is not Asio's
  std::optional<std::tuple<Args...>> outcome_;
};

#if defined(WEIR_HAS_ASIO_AWAITABLE)
/// An Asio awaitable that can be started as a task.
template <class T>
class awaitable_body {
 public:
  using value_type = T;
  class running;

  explicit awaitable_body(net::awaitable<T> body) noexcept : body_(std::move(body)) {}
  explicit operator bool() const noexcept { return body_.valid(); }

 private:
  net::awaitable<T> body_;
};

/// The started awaitable. It is not moved after start().
template <class T>
class awaitable_body<T>::running {
 public:
  running() noexcept = default;
  explicit running(awaitable_body body) noexcept : body_(std::move(body.body_)) {}
  running& operator=(running&& unstarted) noexcept {
    forget();
    const auto gone = std::move(body_);  // Asio's assignment does not destroy the old frame
    body_ = std::move(unstarted.body_);
    return *this;
  }
  ~running() { forget(); }

  void start(core::context& where, core::task_end& end) noexcept {
    end_ = &end;
    telling_handler tells(*this);
    try {
      auto* const host = where.executor.as<target>();
      if (host == nullptr) throw std::logic_error("weir: an asio::awaitable runs only on an executor of Asio's");
      net::co_spawn(host->where(), std::move(body_), std::move(tells));
    } catch (...) {
      if (tells.forget()) end_with(std::current_exception());  // else Asio has destroyed the handler already
    }
  }

  /// True if it has ended without a value or an exception.
  [[nodiscard]] bool lost() const noexcept { return lost_; }

  T take() { return made_.take(); }

 private:
  friend telling_handler<running>;

  template <class... Value>
  void complete(std::exception_ptr thrown, Value&&... value) noexcept {
    if (!thrown) {
      try {
        made_.set(std::forward<Value>(value)...);
      } catch (...) {  // the value could not be moved
        thrown = std::current_exception();
      }
    }
    end_with(std::move(thrown));
  }

  /// Called when Asio destroys the handler: with its context, or after a move of the value has thrown out of run().
  void dropped() noexcept {
    lost_ = true;
    end_with(nullptr);
  }

  void end_with(std::exception_ptr thrown) noexcept {
    handler_ = nullptr;
    if (thrown) end_->failed(std::move(thrown));
    end_->ended().resume();
  }

  void forget() noexcept {
    if (handler_ != nullptr) std::exchange(handler_, nullptr)->forget();
  }

  net::awaitable<T> body_;
  core::task_end* end_ = nullptr;
  telling_handler<running>* handler_ = nullptr;
  bool lost_ = false;
  core::made<T> made_;
};
#endif

}  // namespace front::inline WEIR_FRONT

namespace core {

/// Lets a task co_await a deferred operation.
template <class Deferred>
  requires net::is_deferred_v<std::decay_t<Deferred>>
auto as_awaitable(front_tag, Deferred&& deferred) {
  return std::forward<Deferred>(deferred)(use_task);
}

#if defined(WEIR_HAS_ASIO_AWAITABLE)
/// Lets an Asio awaitable run as a task, on an Asio executor.
template <class T>
front::awaitable_body<T> as_task(front_tag, net::awaitable<T> body) {
  return front::awaitable_body<T>(std::move(body));
}
#endif

}  // namespace core
}  // namespace weir

template <class R, class... Args>
class WEIR_ASYNC_RESULT<weir::use_task_t, R(Args...)> {
 public:
  template <class Initiation, class... InitArgs>
  static auto initiate(Initiation&& initiation, weir::use_task_t, InitArgs&&... args) {
    using awaiting =
        weir::front::awaiting<std::decay_t<Initiation>, void(std::decay_t<Args>...), std::decay_t<InitArgs>...>;
    return awaiting(std::forward<Initiation>(initiation), std::forward<InitArgs>(args)...);
  }
};

template <class Awaiting, class Executor>
struct WEIR_ASSOCIATED_EXECUTOR<weir::front::awaiting_handler<Awaiting>, Executor> {
  using type = weir::front::any_executor;
  static type get(const weir::front::awaiting_handler<Awaiting>& handler,
                  const Executor& otherwise = Executor()) noexcept {
    return handler.where() ? *handler.where() : type(otherwise);
  }
};
