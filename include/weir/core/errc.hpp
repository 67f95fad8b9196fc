#pragma once

// Error codes of failed waits. They are std::error_codes of weir's own category and compare equal to the std::errc of
// the same meaning.

#include <string>
#include <system_error>

#include <weir/core/shared.hpp>

namespace weir {

/// The reasons why a wait fails.
enum class errc {
  timed_out = 1,   ///< the time limit passed first
  cancelled,       ///< a stop token, a ticket or cancel_all() withdrew the wait
  closed,          ///< the synchronizer is closed, or was destroyed
  would_deadlock,  ///< the caller waits for something that only it can release
  not_owner,       ///< unlock() was called on something that is not locked
  failed,          ///< the awaited work threw: see result::exception()
};

namespace core {

class error_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "weir"; }

  std::string message(int code) const override {
    switch (static_cast<errc>(code)) {
      case errc::timed_out:
        return "the wait timed out";
      case errc::cancelled:
        return "the wait was cancelled";
      case errc::closed:
        return "the synchronizer is closed";
      case errc::would_deadlock:
        return "the wait would deadlock: its caller holds what it waits for";
      case errc::not_owner:
        return "not locked: there is nothing to unlock";
      case errc::failed:
        return "the awaited work failed with an exception";
    }
    return "unknown weir error " + std::to_string(code);
  }

  std::error_condition default_error_condition(int code) const noexcept override {
    switch (static_cast<errc>(code)) {
      case errc::timed_out:
        return std::errc::timed_out;
      case errc::cancelled:
        return std::errc::operation_canceled;
      case errc::would_deadlock:
        return std::errc::resource_deadlock_would_occur;
      case errc::not_owner:
        return std::errc::operation_not_permitted;
      case errc::closed:
      case errc::failed:
        break;
    }
    return {code, *this};
  }
};

/// A category that is never destroyed: static destructors may still use it.
union lasting_category {
  constexpr lasting_category() noexcept : category() {}
  ~lasting_category() {}
  error_category category;
};

}  // namespace core

/// The category of weir's error codes. Its name is "weir".
WEIR_SHARED inline const std::error_category& error_category() noexcept {
  static constinit core::lasting_category lasting;
  return lasting.category;
}

/// Converts an errc to a std::error_code; the standard library calls it for the implicit conversion.
inline std::error_code make_error_code(errc code) noexcept { return {static_cast<int>(code), error_category()}; }

}  // namespace weir

template <>
struct std::is_error_code_enum<weir::errc> : std::true_type {};
