// A weir::task awaits operations of Asio's: co_await socket.async_read_some(buffer, weir::use_task), or any deferred
// one.

#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weir/core/context.hpp>
#include <weir/core/work.hpp>
#include <weir/run/task.hpp>

namespace weir {

/// A completion token: makes an Asio operation that a weir::task, or any coroutine, can co_await. It gives what the
/// operation gives after its error, which is thrown.
struct use_task_t {
  explicit constexpr use_task_t() = default;
};
inline constexpr use_task_t use_task{};

namespace front {

inline void throw_if(const net::net_error& error) {
  if (error) throw net::net_system_error(error);
}
inline void throw_if(const std::exception_ptr& thrown) {
  if (thrown) std::rethrow_exception(thrown);
}
template <class T>
concept failure = std::is_same_v<T, net::net_error> || std::is_same_v<T, std::exception_ptr>;

/// What co_await gives for the arguments of a handler: those behind the error, if there is one; one alone as itself.
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

/// What Asio calls when an operation completes that a coroutine awaits.
template <class Awaiting>
class awaiting_handler {
 public:
  explicit awaiting_handler(Awaiting& by) noexcept : awaits_(&by), where_(by.home()) { by.handler_ = this; }
  awaiting_handler(awaiting_handler&& from) noexcept
      : awaits_(std::exchange(from.awaits_, nullptr)), where_(std::move(from.where_)) {
    if (awaits_ != nullptr) awaits_->handler_ = this;
  }
  awaiting_handler& operator=(awaiting_handler&&) = delete;
  ~awaiting_handler() {
    if (awaits_ != nullptr) awaits_->handler_ = nullptr;
  }

  template <class... Args>
  void operator()(Args&&... args) {
    if (awaits_ != nullptr) std::exchange(awaits_, nullptr)->complete(std::forward<Args>(args)...);
  }

  /// Where the coroutine runs, if that is known and one of Asio's.
  [[nodiscard]] const std::optional<any_executor>& where() const noexcept { return where_; }

 private:
  friend Awaiting;
  Awaiting* awaits_;
  std::optional<any_executor> where_;
};

template <class Initiation, class Signature, class... InitArgs>
class awaiting;

/// An Asio operation that is under way, and who awaits it. A coroutine that is destroyed meanwhile is not resumed.
template <class Initiation, class... Args, class... InitArgs>
class [[nodiscard(
    "an operation with use_task does nothing until it is awaited")]] awaiting<Initiation, void(Args...), InitArgs...>
    : private work {
 public:
  template <class I, class... Given>
  explicit awaiting(I&& initiation, Given&&... args)
      : initiation_(std::forward<I>(initiation)), args_(std::forward<Given>(args)...) {}
  awaiting(awaiting&& unstarted) noexcept
      : initiation_(std::move(unstarted.initiation_)), args_(std::move(unstarted.args_)) {}
  ~awaiting() {
    if (handler_ != nullptr) handler_->awaits_ = nullptr;
  }

  /// By a coroutine that knows where it runs.
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

  [[nodiscard]] target* host() const noexcept {
    return context_ != nullptr ? context_->executor.template as<target>() : nullptr;
  }
  [[nodiscard]] std::optional<any_executor> home() const {
    return host() != nullptr ? std::optional(host()->where()) : std::nullopt;
  }

  /// On the task's own executor if that is one of Asio's, else wherever the operation completes.
  template <class... Given>
  void complete(Given&&... args) {
    handler_ = nullptr;
    outcome_.emplace(std::forward<Given>(args)...);
    if (context_ == nullptr || host() != nullptr) {
      if (context_ != nullptr) context_->away = false;
      owner_.resume();
      return;
    }
    this->run_ = [](work& posted) noexcept { static_cast<awaiting&>(posted).owner_.resume(); };
    context_->executor.post(*this);
  }

  Initiation initiation_;
  std::tuple<InitArgs...> args_;
  core::context* context_ = nullptr;
  std::coroutine_handle<> owner_;
  handler* handler_ = nullptr;
  std::optional<std::tuple<Args...>> outcome_;
};

/// The executor of the task that awaits it.
class [[nodiscard]] host_executor {
 public:
  void enter(core::context& where) noexcept { host_ = where.executor.as<target>(); }
  bool await_ready() const noexcept { return true; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  any_executor await_resume() const {
    if (host_ == nullptr) throw std::logic_error("weir: an asio::awaitable runs only on an executor of Asio's");
    return host_->where();
  }

 private:
  target* host_ = nullptr;
};

}  // namespace front

namespace core {

/// co_await of a deferred operation, in a task.
template <class Deferred>
  requires net::is_deferred_v<std::decay_t<Deferred>>
auto as_awaitable(front_tag, Deferred&& deferred) {
  return std::forward<Deferred>(deferred)(use_task);
}

#if defined(WEIR_HAS_ASIO_AWAITABLE)
/// An awaitable of Asio's as a task, on an executor of Asio's.
template <class T>
task<T> as_task(front_tag, net::awaitable<T> body) {
  const front::any_executor where = co_await front::host_executor();
  co_return co_await net::co_spawn(where, std::move(body), use_task);
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
