#pragma once

// The tests of the Asio front are compiled twice: `asio` is standalone Asio, or with WEIR_TEST_BOOST Boost.Asio.

#if defined(WEIR_TEST_BOOST)
#include <boost/asio.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <weir/boost_asio.hpp>

namespace weir::test {
namespace asio = ::boost::asio;
namespace asio_tokens = ::boost::asio;
namespace asio_operators = ::boost::asio::experimental::awaitable_operators;
using net_error = ::boost::system::error_code;
using net_system_error = ::boost::system::system_error;
}  // namespace weir::test
#else
#include <asio.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/experimental/deferred.hpp>
#include <weir/asio.hpp>

namespace weir::test {
namespace asio = ::asio;
namespace asio_tokens = ::asio::experimental;  // deferred and as_tuple, until 1.24
namespace asio_operators = ::asio::experimental::awaitable_operators;
using net_error = ::asio::error_code;
using net_system_error = ::asio::system_error;
}  // namespace weir::test
#endif
