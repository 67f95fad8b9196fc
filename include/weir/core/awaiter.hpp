#pragma once

// awaiter_of(x) finds the awaiter of x as the language does, for coroutine types whose await_transform wraps it.

#include <coroutine>
#include <type_traits>
#include <utility>

namespace weir::core {

/// Refers to an awaiter, which stays where it is: in the expression that awaits it.
template <class Awaiter>
class awaiter_ref {
 public:
  explicit awaiter_ref(Awaiter& referred) noexcept : awaiter_(&referred) {}

  [[gnu::always_inline]] auto await_ready() noexcept(noexcept(std::declval<Awaiter&>().await_ready())) {
    return awaiter_->await_ready();
  }
  template <class Promise>
  auto await_suspend(std::coroutine_handle<Promise> owner) noexcept(
      noexcept(std::declval<Awaiter&>().await_suspend(owner))) {
    return awaiter_->await_suspend(owner);
  }
  [[gnu::always_inline]] decltype(auto) await_resume() { return awaiter_->await_resume(); }

 private:
  Awaiter* awaiter_;
};

template <class Awaiter>
concept awaiter = requires(Awaiter& each) {
  static_cast<bool>(each.await_ready());
  each.await_resume();
};

template <class Awaited>
concept awaitable = awaiter<Awaited> || requires(Awaited&& awaited) {
  static_cast<Awaited&&>(awaited).operator co_await();
} || requires(Awaited&& awaited) { operator co_await(static_cast<Awaited&&>(awaited)); };

template <class Awaited>
decltype(auto) awaiter_of(Awaited&& awaited) {
  if constexpr (requires { static_cast<Awaited&&>(awaited).operator co_await(); }) {
    return static_cast<Awaited&&>(awaited).operator co_await();
  } else if constexpr (requires { operator co_await(static_cast<Awaited&&>(awaited)); }) {
    return operator co_await(static_cast<Awaited&&>(awaited));
  } else {
    return awaiter_ref<std::remove_reference_t<Awaited>>(awaited);
  }
}

}  // namespace weir::core
