#pragma once

// weir with standalone Asio: every operation takes a completion token, every Asio executor or context runs tasks, and a
// task awaits any Asio operation. <weir/boost_asio.hpp> is the same for Boost.Asio.
//
//     co_await sem.acquire(2)(asio::use_awaitable);  // or sem.async_acquire(2, asio::use_awaitable)
//     auto result = weir::spawn(io, a_task());
//     std::size_t n = co_await socket.async_read_some(buffer, weir::use_task);

#if defined(WEIR_FRONT)
#error "include either <weir/asio.hpp> or <weir/boost_asio.hpp>: a program has one Asio"
#endif
#define WEIR_FRONT asio

#include <system_error>

#include <asio/any_io_executor.hpp>
#include <asio/associated_allocator.hpp>
#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/error.hpp>
#include <asio/execution_context.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/recycling_allocator.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>
#include <asio/system_executor.hpp>
#include <asio/thread_pool.hpp>
#include <asio/use_future.hpp>

#if ASIO_VERSION >= 102400
#include <asio/deferred.hpp>
#else
#include <asio/experimental/deferred.hpp>
#endif

namespace weir::net {

using namespace ::asio;
using net_error = ::asio::error_code;
using net_system_error = ::asio::system_error;

#if ASIO_VERSION >= 102400
template <class Op>
inline constexpr bool is_deferred_v = ::asio::is_deferred<Op>::value;
#else
template <class Op>
inline constexpr bool is_deferred_v = ::asio::experimental::is_deferred<Op>::value;
#endif

}  // namespace weir::net

#define WEIR_ASYNC_RESULT asio::async_result
#define WEIR_ASSOCIATED_EXECUTOR asio::associated_executor
#if defined(ASIO_HAS_CO_AWAIT)
#define WEIR_HAS_ASIO_AWAITABLE
#endif
#include <weir/front/asio.ipp>
#undef WEIR_ASYNC_RESULT
#undef WEIR_ASSOCIATED_EXECUTOR
