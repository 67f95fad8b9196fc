#pragma once

// The examples are compiled for both Asios: `asio` is standalone Asio, or with WEIR_EXAMPLE_BOOST Boost.Asio. A program
// of yours has one of them, and includes its header of weir's.

#if defined(WEIR_EXAMPLE_BOOST)
#include <boost/asio.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <weir/boost_asio.hpp>

namespace asio = boost::asio;
using asio::as_tuple;
using asio::deferred;
using net_error = boost::system::error_code;
using net_system_error = boost::system::system_error;
#else
#include <asio.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/experimental/deferred.hpp>
#include <weir/asio.hpp>

using asio::experimental::as_tuple;  // in asio:: from 1.24 on, and so is deferred
using asio::experimental::deferred;
using net_error = asio::error_code;
using net_system_error = asio::system_error;
#endif
