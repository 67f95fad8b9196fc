#pragma once

// Why a wait ended without what it waited for. The codes are std::error_codes of weir's own category and
// compare equal to the std::errc of the same meaning.

#include <string>
#include <system_error>

#include <weir/core/shared.hpp>

namespace weir {

/// Why a wait did not get what it waited for.
enum class errc {
  timed_out = 1,   ///< the time limit passed first
  cancelled,       ///< a stop token, a ticket or cancel_all() withdrew the wait
  closed,          ///< the synchronizer is closed, or was destroyed
  would_deadlock,  ///< the caller waits for what only it can give
  not_owner,       ///< what was to be unlocked is not locked
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

/// Never destroyed: static destructors may still ask what an error means.
union lasting_category {
  constexpr lasting_category() noexcept : category() {}
  ~lasting_category() {}
  error_category category;
};

}  // namespace core

/// Its name is "weir".
WEIR_SHARED inline const std::error_category& error_category() noexcept {
  static constinit core::lasting_category lasting;
  return lasting.category;
}

/// So that an errc is a std::error_code.
inline std::error_code make_error_code(errc code) noexcept { return {static_cast<int>(code), error_category()}; }

}  // namespace weir

template <>
struct std::is_error_code_enum<weir::errc> : std::true_type {};
