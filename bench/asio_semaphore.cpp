// W10 under Asio in the way of a channel: no pool, a semaphore that each task gives back.

#include <exception>

#include <weir/asio.hpp>
#include <weir/weir.hpp>

#include "asio_run.hpp"
#include "rows.hpp"

namespace bench {
namespace {

using asio::awaitable;

awaitable<void> trivial() { co_return; }

awaitable<void> spawn_all(asio::io_context& io, weir::semaphore& slots, int count) {
  for (int i = 0; i < count; ++i) {
    co_await slots.async_acquire(asio::use_awaitable);
    asio::co_spawn(io, trivial(), [&slots](std::exception_ptr) { slots.release(); });
  }
}

void w10(const run& row) {
  constexpr int count = 1'000'000;
  weir::semaphore slots(64);
  const auto all = [&](int some) {
    return run_on_context(
        row.threads(), [&](asio::io_context& io) { asio::co_spawn(io, spawn_all(io, slots, some), asio::detached); });
  };
  all(count / 20);
  row.tell_each(all(count), count);
}

}  // namespace

void add_asio_semaphore(rows& all) {
  for (int threads : {1, 2}) all.push_back({"W10/asio_semaphore", threads, w10});
}

}  // namespace bench
