#pragma once

// result<T>: the value of a wait, or the reason why it failed. Its interface follows std::expected<T, std::error_code>,
// and it may also hold an exception.

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

// The value of a result<void>. It is not std::monostate: <variant> would cost each file that includes weir 20 ms.
struct nothing {};
}  // namespace core

/// A value, or the reason why there is none. Its interface follows std::expected<T, std::error_code>.
template <class T = void>
class [[nodiscard("a result tells whether the wait has failed")]] result {
  using stored = std::conditional_t<std::is_void_v<T>, core::nothing, T>;

 public:
  /// The type that success yields.
  using value_type = T;

  result()
    requires std::is_void_v<T>
      : value_(std::in_place) {}

  /// Constructs a value explicitly: for generic code, whose T may itself be an error code.
  template <class... Value>
  explicit result(std::in_place_t, Value&&... value) : value_(std::in_place, std::forward<Value>(value)...) {}

  /// Constructs a result from a value or from an error.
  template <class U = stored>
    requires(!std::is_void_v<T> && !core::is_result<std::remove_cvref_t<U>> &&
             !std::is_same_v<std::remove_cvref_t<U>, std::error_code> &&
             !std::is_same_v<std::remove_cvref_t<U>, errc> &&
             !std::is_same_v<std::remove_cvref_t<U>, std::in_place_t> && std::is_convertible_v<U, stored>)
  result(U&& value) : value_(std::in_place, std::forward<U>(value)) {}

  result(std::error_code error) noexcept : category_(&error.category()), code_(error.value()) {}
  result(errc error) noexcept : result(make_error_code(error)) {}

  /// Returns a result that holds the exception of the awaited work; its error() is errc::failed.
  static result failure(std::exception_ptr thrown) {
    result made(errc::failed);
    made.thrown_ = std::move(thrown);
    return made;
  }

  /// Whether it holds a value.
  [[nodiscard]] bool has_value() const noexcept { return value_.has_value(); }
  explicit operator bool() const noexcept { return has_value(); }

  /// The value. A debug build asserts that there is one.
  stored& operator*() & noexcept {
    WEIR_ASSERT(has_value(), "a result without a value was dereferenced");
    return *value_;
  }
  const stored& operator*() const& noexcept {
    WEIR_ASSERT(has_value(), "a result without a value was dereferenced");
    return *value_;
  }
  stored&& operator*() && noexcept { return std::move(**this); }

  /// Accesses a member of the value. A debug build asserts that there is one.
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

  /// The exception, if the failure is one; null for every other failure.
  [[nodiscard]] std::exception_ptr exception() const noexcept { return thrown_; }

 private:
  void check() const {
    if (thrown_) std::rethrow_exception(thrown_);
    if (!has_value()) throw std::system_error(error());
  }

  // The two members of a std::error_code: to construct one takes a call, and its padding is where a small value fits.
  const std::error_category* category_ = nullptr;
  std::exception_ptr thrown_;
  int code_ = 0;
  std::optional<stored> value_;
};

}  // namespace weir
