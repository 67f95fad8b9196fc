// The bakery of docs/tour.md on an io_context: Asio coroutines, weir tasks and a handler share two ovens.
//
// Prints:
//   6 baked on one thread

#include <chrono>
#include <cstdio>
#include <exception>

#include <weir/weir.hpp>

#include "binding.hpp"

using namespace std::chrono_literals;

namespace {

// [bakery]
asio::awaitable<void> by_awaitable(weir::semaphore& ovens, int& baked) {
  auto oven = co_await ovens.scoped_acquire()(asio::use_awaitable);  // any completion token
  asio::steady_timer baking(co_await asio::this_coro::executor, 1ms);
  co_await baking.async_wait(asio::use_awaitable);
  ++baked;
}

weir::task<> by_task(asio::io_context& io, weir::semaphore& ovens, int& baked) {
  auto oven = co_await ovens.scoped_acquire();
  asio::steady_timer baking(io, 1ms);
  co_await baking.async_wait(weir::use_task);  // a weir task awaits an Asio operation
  ++baked;
}

int open_for_a_day() {
  asio::io_context io;
  weir::semaphore ovens(2);
  int baked = 0;
  for (int i = 0; i < 3; ++i) asio::co_spawn(io, by_awaitable(ovens, baked), asio::detached);
  for (int i = 0; i < 2; ++i) auto detached = weir::spawn(io.get_executor(), by_task(io, ovens, baked));
  ovens.scoped_acquire().within(1min)(
      asio::bind_executor(io, [&baked](net_error late, weir::permit) { baked += !late; }));
  io.run();  // returns when nothing is pending
  return baked;
}
// [bakery]

}  // namespace

int main() {
  const int baked = open_for_a_day();
  std::printf("%d baked on one thread\n", baked);
  return baked == 6 ? 0 : 1;
}
