#pragma once

// Coroutine types that weir knows nothing of: no executor, no context, nothing but the standard.

#include <coroutine>
#include <exception>
#include <utility>

namespace weir::test {

/// Starts at once; whoever holds the object may destroy the coroutine while it is suspended.
class foreign {
 public:
  struct promise_type {
    foreign get_return_object() { return foreign(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };

  foreign() noexcept = default;
  foreign(foreign&& from) noexcept : coroutine_(std::exchange(from.coroutine_, nullptr)) {}
  foreign& operator=(foreign&& from) noexcept {
    std::swap(coroutine_, from.coroutine_);
    return *this;
  }
  ~foreign() { destroy(); }

  void destroy() noexcept {
    if (coroutine_) std::exchange(coroutine_, nullptr).destroy();
  }
  [[nodiscard]] bool done() const noexcept { return coroutine_.done(); }

 private:
  explicit foreign(std::coroutine_handle<> coroutine) noexcept : coroutine_(coroutine) {}
  std::coroutine_handle<> coroutine_;
};

/// Starts at once, and destroys itself at its end.
struct detached {
  struct promise_type {
    detached get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

}  // namespace weir::test
