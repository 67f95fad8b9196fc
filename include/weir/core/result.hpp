#pragma once

// The outcome of a wait as a value: what was waited for, or why it was not had. Shaped like
// std::expected<T, std::error_code>; only what is built on future::get() ever holds an exception.

#include <exception>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include <weir/core/assert.hpp>
#include <weir/core/errc.hpp>

namespace weir {

template <class T>
class result;

namespace core {
template <class T>
inline constexpr bool is_result = false;
template <class T>
inline constexpr bool is_result<result<T>> = true;

// What a result<void> holds. Not std::monostate: <variant> would cost each file that includes weir 20 ms.
struct nothing {};
}  // namespace core

/// The value, or why there is none. Shaped like std::expected<T, std::error_code>.
template <class T = void>
class [[nodiscard("a result tells whether the wait has failed")]] result {
  using stored = std::conditional_t<std::is_void_v<T>, core::nothing, T>;

 public:
  /// What success yields.
  using value_type = T;

  result()
    requires std::is_void_v<T>
      : value_(std::in_place) {}

  /// A value, said so: for generic code, whose T may itself be an error code.
  template <class... Value>
  explicit result(std::in_place_t, Value&&... value) : value_(std::in_place, std::forward<Value>(value)...) {}

  /// A value, or an error.
  template <class U = stored>
    requires(!std::is_void_v<T> && !core::is_result<std::remove_cvref_t<U>> &&
             !std::is_same_v<std::remove_cvref_t<U>, std::error_code> &&
             !std::is_same_v<std::remove_cvref_t<U>, errc> &&
             !std::is_same_v<std::remove_cvref_t<U>, std::in_place_t> && std::is_convertible_v<U, stored>)
  result(U&& value) : value_(std::in_place, std::forward<U>(value)) {}

  result(std::error_code error) noexcept : category_(&error.category()), code_(error.value()) {}
  result(errc error) noexcept : result(make_error_code(error)) {}

  /// A result that holds what the awaited work threw; its error() is errc::failed.
  static result failure(std::exception_ptr thrown) {
    result made(errc::failed);
    made.thrown_ = std::move(thrown);
    return made;
  }

  /// Whether it holds a value.
  [[nodiscard]] bool has_value() const noexcept { return value_.has_value(); }
  explicit operator bool() const noexcept { return has_value(); }

  /// The value: asserted in debug builds.
  stored& operator*() & noexcept {
    WEIR_ASSERT(has_value(), "a result without a value was dereferenced");
    return *value_;
  }
  const stored& operator*() const& noexcept {
    WEIR_ASSERT(has_value(), "a result without a value was dereferenced");
    return *value_;
  }
  stored&& operator*() && noexcept { return std::move(**this); }

  /// The value's members.
  stored* operator->() noexcept { return &**this; }
  const stored* operator->() const noexcept { return &**this; }

  /// Throws std::system_error with error(), or rethrows exception(), if there is no value.
  T value() && {
    check();
    if constexpr (!std::is_void_v<T>) return std::move(**this);
  }
  T value() & {
    check();
    if constexpr (std::is_copy_constructible_v<stored> && !std::is_void_v<T>) {
      return **this;
    } else if constexpr (!std::is_void_v<T>) {
      return std::move(**this);
    }
  }

  T value() const&
    requires std::is_void_v<T> || std::is_copy_constructible_v<T>
  {
    check();
    if constexpr (!std::is_void_v<T>) return **this;
  }

  /// No error (a zero code) if there is a value.
  [[nodiscard]] std::error_code error() const noexcept {
    return category_ != nullptr ? std::error_code(code_, *category_) : std::error_code();
  }

  /// What a future has thrown; null for every other failure.
  [[nodiscard]] std::exception_ptr exception() const noexcept { return thrown_; }

 private:
  void check() const {
    if (thrown_) std::rethrow_exception(thrown_);
    if (!has_value()) throw std::system_error(error());
  }

  // Not a std::error_code, which takes a call to make and leaves a hole where a small value fits.
  const std::error_category* category_ = nullptr;
  std::exception_ptr thrown_;
  int code_ = 0;
  std::optional<stored> value_;
};

}  // namespace weir
