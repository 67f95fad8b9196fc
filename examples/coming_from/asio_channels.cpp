// Coming from Asio's channels and from timers used as events: a bounded queue with an end, and an event that lets all
// through at once.

#include <exception>
#include <optional>

#include <weir/weir.hpp>

#include "../asio/binding.hpp"

namespace {

// [asio_channels]
asio::awaitable<void> produce(weir::queue<int>& jobs, weir::event& go) {
  co_await go.async_wait(asio::use_awaitable);  // instead of a timer that never expires
  for (int job = 1; job <= 100; ++job) co_await jobs.async_push(job, asio::use_awaitable);  // waits while it is full
  jobs.close();  // the remaining items are still received
}

asio::awaitable<int> consume(weir::queue<int>& jobs) {
  int sum = 0;
  for (;;) {
    const std::optional<int> job = co_await jobs.async_pop(asio::use_awaitable);
    if (!job) co_return sum;  // closed and drained: the end, not an error
    sum += *job;
  }
}
// [asio_channels]

}  // namespace

int main() {
  asio::io_context io(1);
  weir::queue<int> jobs(8);
  weir::event go;
  int sum = 0;
  asio::co_spawn(io, produce(jobs, go), asio::detached);
  for (int i = 0; i < 2; ++i) {
    asio::co_spawn(io, consume(jobs), [&sum](std::exception_ptr failed, int part) { sum += failed ? -10000 : part; });
  }
  asio::post(io, [&go] { go.set(); });
  io.run();
  return sum == 5050 && jobs.empty() ? 0 : 1;
}
