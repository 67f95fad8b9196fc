#pragma once

// The result of a task or a promise: nothing yet, a value, or an exception. For void it is as large as the exception
// pointer.

#include <exception>
#include <utility>
#include <variant>

#include <weir/core/assert.hpp>
#include <weir/core/result.hpp>

namespace weir::core {

template <class T>
class made {
 public:
  template <class U>
  void set(U&& value) {
    kept_.template emplace<1>(std::forward<U>(value));
  }
  void fail(std::exception_ptr thrown) noexcept { kept_.template emplace<2>(std::move(thrown)); }

  /// Called once. Rethrows the exception if there is one.
  T take() {
    if (auto* thrown = std::get_if<2>(&kept_)) std::rethrow_exception(*thrown);
    WEIR_ASSERT(kept_.index() == 1, "a task<T> ended without co_return");
    return std::move(*std::get_if<1>(&kept_));
  }

  [[nodiscard]] bool has_failed() const noexcept { return kept_.index() == 2; }

  [[nodiscard]] std::exception_ptr exception() const noexcept {
    const auto* thrown = std::get_if<2>(&kept_);
    return thrown != nullptr ? *thrown : nullptr;
  }

 private:
  std::variant<std::monostate, T, std::exception_ptr> kept_;
};

template <>
class made<void> {
 public:
  void set() const noexcept {}
  void fail(std::exception_ptr thrown) noexcept { thrown_ = std::move(thrown); }

  void take() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

  [[nodiscard]] bool has_failed() const noexcept { return static_cast<bool>(thrown_); }

  [[nodiscard]] std::exception_ptr exception() const noexcept { return thrown_; }

 private:
  std::exception_ptr thrown_;
};

/// Returns the value or the exception as a result.
template <class T>
result<T> take_result(made<T>& from) {
  if (auto thrown = from.exception()) return result<T>::failure(std::move(thrown));
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return result<T>(std::in_place, from.take());
  }
}

}  // namespace weir::core
