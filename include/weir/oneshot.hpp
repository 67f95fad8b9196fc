#pragma once

// oneshot<T>: one value, once, from one sender to one receiver.
//
//   auto [tx, rx] = weir::make_oneshot<int>();
//   tx.send(42);
//   int value = co_await rx.receive();
//
// Who may call: any member from any thread; one object's moves and its destruction are its owner's alone.
// Order: one value: who receives it first has it.
// Cancellation: a receive() that gave up has taken nothing and may be called again.
// Completions: the receiver goes on where it belongs (its executor, its own thread, or the flat loop of the thread that
// sent).

#include <concepts>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <weir/future.hpp>

namespace weir {

/// Dropping it unsent gives the receiver errc::closed. Move-only.
template <class T>
class oneshot_sender {
 public:
  /// Sends into a promise.
  explicit oneshot_sender(promise<T> into) noexcept : into_(std::move(into)) {}

  /// Once: throws std::logic_error the second time.
  template <class... Value>
    requires(std::is_void_v<T> ? sizeof...(Value) == 0 : sizeof...(Value) == 1)
  void send(Value&&... value) {
    if (!into_.pending()) throw std::logic_error("weir::oneshot_sender::send: it has sent already, or was moved away");
    into_.set_value(std::forward<Value>(value)...);
  }

 private:
  promise<T> into_;
};

/// Move-only.
template <class T>
class oneshot_receiver {
 public:
  /// Receives from a future.
  explicit oneshot_receiver(future<T> from) noexcept : from_(std::move(from)) {}

  /// Waits for the value. Fails with errc::closed if the sender is gone and has sent nothing. Throws std::logic_error
  /// where it is called if this receiver was moved away.
  auto receive() { return from_.get(); }

  /// In the way of a completion token of Asio's, with <weir/asio.hpp> or <weir/boost_asio.hpp>.
  template <class Token>
  decltype(auto) async_receive(Token&& token) {
    return receive()(std::forward<Token>(token));
  }

  /// receive() would not wait.
  [[nodiscard]] bool ready() const noexcept { return from_.ready(); }

 private:
  future<T> from_;
};

/// What make_oneshot() gives: `auto [tx, rx] = make_oneshot<T>()`.
template <class T>
struct oneshot {
  /// The two ends.
  oneshot_sender<T> sender;
  oneshot_receiver<T> receiver;
};

/// A sender and its receiver.
template <class T>
oneshot<T> make_oneshot() {
  promise<T> into;
  auto from = into.get_future();
  return {oneshot_sender<T>(std::move(into)), oneshot_receiver<T>(std::move(from))};
}

}  // namespace weir
