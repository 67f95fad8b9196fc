#pragma once

// oneshot<T>: one value, once, from one sender to one receiver.
//
//     auto [tx, rx] = weir::make_oneshot<int>();
//     tx.send(42);
//     int value = co_await rx.receive();
//
// Who may call: every member may be called from any thread; only the owner of an object may move or destroy it.
// Order: one value: the first receive() to succeed takes it.
// Cancellation: a receive() that gave up has taken nothing and may be called again.
// Completions: the receiver resumes on its executor, its own thread, or the flat loop of the thread that sent.

#include <concepts>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <weir/future.hpp>

namespace weir {

/// The sending end. Move-only. If it is dropped unsent, the receiver gets errc::closed.
template <class T>
class oneshot_sender {
 public:
  /// Creates a sender that sends into a promise.
  explicit oneshot_sender(promise<T> into) noexcept : into_(std::move(into)) {}

  /// Sends the value. Throws std::logic_error the second time.
  template <class... Value>
    requires(std::is_void_v<T> ? sizeof...(Value) == 0 : sizeof...(Value) == 1)
  void send(Value&&... value) {
    if (!into_.pending()) throw std::logic_error("weir::oneshot_sender::send: it has sent already, or was moved away");
    into_.set_value(std::forward<Value>(value)...);
  }

 private:
  promise<T> into_;
};

/// The receiving end. Move-only.
template <class T>
class oneshot_receiver {
 public:
  /// Creates a receiver that receives from a future.
  explicit oneshot_receiver(future<T> from) noexcept : from_(std::move(from)) {}

  /// Waits for the value. Fails with errc::closed if the sender was destroyed and has sent nothing. Throws
  /// std::logic_error at the call if this receiver was moved from.
  auto receive() { return from_.get(); }

  /// The Asio spelling: receive()(token). Needs <weir/asio.hpp> or <weir/boost_asio.hpp>.
  template <class Token>
  decltype(auto) async_receive(Token&& token) {
    return receive()(std::forward<Token>(token));
  }

  /// Returns whether receive() would not wait.
  [[nodiscard]] bool ready() const noexcept { return from_.ready(); }

 private:
  future<T> from_;
};

/// The two ends that make_oneshot() returns: `auto [tx, rx] = make_oneshot<T>()`.
template <class T>
struct oneshot {
  /// The sender and the receiver.
  oneshot_sender<T> sender;
  oneshot_receiver<T> receiver;
};

/// Creates a sender and its receiver.
template <class T>
oneshot<T> make_oneshot() {
  promise<T> into;
  auto from = into.get_future();
  return {oneshot_sender<T>(std::move(into)), oneshot_receiver<T>(std::move(from))};
}

}  // namespace weir
