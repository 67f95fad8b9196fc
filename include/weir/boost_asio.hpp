#pragma once

// weir with Boost.Asio: every operation takes a completion token, every Asio executor or context runs tasks, and a task
// awaits any Asio operation. <weir/asio.hpp> is the same for standalone Asio.

#if defined(WEIR_FRONT)
#error "include either <weir/asio.hpp> or <weir/boost_asio.hpp>: a program has one Asio"
#endif
#define WEIR_FRONT boost_asio

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/recycling_allocator.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

namespace weir::net {

using namespace ::boost::asio;
using net_error = ::boost::system::error_code;
using net_system_error = ::boost::system::system_error;

template <class Op>
inline constexpr bool is_deferred_v = ::boost::asio::is_deferred<Op>::value;

}  // namespace weir::net

#define WEIR_ASYNC_RESULT boost::asio::async_result
#define WEIR_ASSOCIATED_EXECUTOR boost::asio::associated_executor
#if defined(BOOST_ASIO_HAS_CO_AWAIT)
#define WEIR_HAS_ASIO_AWAITABLE
#endif
#include <weir/front/asio.ipp>
#undef WEIR_ASYNC_RESULT
#undef WEIR_ASSOCIATED_EXECUTOR
