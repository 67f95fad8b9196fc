// The signatures of Asio handlers, and where a handler runs.

#include <concepts>
#include <exception>
#include <optional>
#include <system_error>
#include <type_traits>

#include <weir/core/errc.hpp>
#include <weir/core/result.hpp>

namespace weir::front::inline WEIR_FRONT {

/// Converts an error to this Asio's type; errc::cancelled becomes operation_aborted.
inline net::net_error to_net(std::error_code error) noexcept {
  if (error == errc::cancelled) return net::error::operation_aborted;
  return error;
}

/// An operation that yields the result of a task, which may be any exception.
template <class Op>
concept rethrowing = requires { Op::rethrows; };

/// The type that a handler receives after the error.
template <class T>
struct handed {
  using type = std::conditional_t<std::is_default_constructible_v<T>, T, std::optional<T>>;
};

template <class Error, class T>
struct signature_with {
  using type = void(Error, typename handed<T>::type);
};
template <class Error>
struct signature_with<Error, void> {
  using type = void(Error);
};

template <class Op>
using signature = typename signature_with<std::conditional_t<rethrowing<Op>, std::exception_ptr, net::net_error>,
                                          typename Op::value_type>::type;

/// Returns the error of a result as the first argument of the signature.
template <class Op>
auto error_of(const result<typename Op::value_type>& outcome) {
  if constexpr (rethrowing<Op>) {
    if (outcome) return std::exception_ptr();
    if (outcome.exception()) return outcome.exception();
    return std::make_exception_ptr(net::net_system_error(to_net(outcome.error())));
  } else {
    return outcome ? net::net_error() : to_net(outcome.error());
  }
}

/// The default of associated_executor: the answer for a handler that has none.
struct no_executor {};

template <class Handler>
using executor_of = typename net::associated_executor<Handler, no_executor>::type;

/// True for a plain function object without an executor.
template <class Token, class Signature>
inline constexpr bool homeless = false;
template <class Token, class... Args>
  requires std::is_void_v<std::invoke_result_t<Token&, Args...>>  // not use_future, which can be called too
inline constexpr bool homeless<Token, void(Args...)> = std::is_same_v<executor_of<Token>, no_executor>;

/// True for the executor of use_future, which sets the value in place.
template <class E>
inline constexpr bool sets_in_place = false;
template <class T, class Blocking>
inline constexpr bool sets_in_place<net::detail::promise_executor<T, Blocking>> = true;

/// True for a handler whose executor is not Asio's, or is use_future's, which runs in place: it needs no context.
template <class Handler>
inline constexpr bool needs_no_context =
    !std::constructible_from<any_executor, executor_of<Handler>> || sets_in_place<executor_of<Handler>>;

}  // namespace weir::front::inline WEIR_FRONT
