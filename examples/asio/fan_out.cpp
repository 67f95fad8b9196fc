// Many requests to a server that answers some of them late: so many at once, and each within a limit of its own.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <weir/weir.hpp>

#include "binding.hpp"

using asio::ip::tcp;
using namespace std::chrono_literals;

namespace {

using number = std::array<std::uint32_t, 1>;

// [ask]
weir::task<std::uint32_t> exchange(tcp::socket& server, tcp::endpoint where, number asked) {
  co_await server.async_connect(where, weir::use_task);
  co_await asio::async_write(server, asio::buffer(asked), weir::use_task);
  number answer;
  co_await asio::async_read(server, asio::buffer(answer), weir::use_task);
  co_return answer[0];
}

/// Yields nullopt if it took too long.
weir::task<std::optional<std::uint32_t>> ask(asio::io_context& io, tcp::endpoint where, number asked,
                                             std::chrono::milliseconds limit) {
  tcp::socket server(io);
  auto answer = weir::spawn(io.get_executor(), exchange(server, where, asked));
  auto got = co_await answer.get().within(limit);
  if (got || got.error() != weir::errc::timed_out) co_return got.value();  // or rethrows its exception
  server.close();  // ends the exchange, which needs its socket until then
  auto last = co_await answer.get().as_result();
  co_return last ? std::optional(*last) : std::nullopt;  // the answer may have arrived just then
}
// [ask]

constexpr std::uint32_t requests = 40;
constexpr bool takes_long(std::uint32_t asked) { return asked % 10 == 7; }

struct totals {
  int answered = 0;
  int timed_out = 0;
  std::uint32_t sum = 0;
  std::size_t most_at_once = 0;
};

// [fan_out]
weir::task<totals> ask_all(asio::io_context& io, tcp::endpoint where) {
  weir::pool requests_under_way(io.get_executor(), 8);
  std::vector<weir::future<std::optional<std::uint32_t>>> answers;
  for (std::uint32_t i = 0; i < requests; ++i) {
    const auto limit = takes_long(i) ? 100ms : 2000ms;
    auto answer = co_await requests_under_way.submit(ask(io, where, number{i}, limit));  // waits while eight run
    answers.push_back(std::move(answer));
  }
  totals all;
  for (auto& each : answers) {
    const auto answer = co_await each.get();
    ++(answer ? all.answered : all.timed_out);
    all.sum += answer.value_or(0);
  }
  all.most_at_once = requests_under_way.peak();
  co_return all;
}
// [fan_out]

/// Answers with the square; those that take long, not before the client has lost its patience.
weir::task<> serve(tcp::socket client) {
  number asked;
  co_await asio::async_read(client, asio::buffer(asked), weir::use_task);
  if (takes_long(asked[0])) {
    std::array<char, 1> nothing;
    co_await client.async_read_some(asio::buffer(nothing), weir::use_task);
  }
  asked[0] *= asked[0];
  co_await asio::async_write(client, asio::buffer(asked), weir::use_task);
}

weir::task<> listen(tcp::acceptor& acceptor) {
  for (;;) {
    auto client = co_await acceptor.async_accept(weir::use_task);
    auto detached = weir::spawn(acceptor.get_executor(), serve(std::move(client)));
  }
}

weir::task<totals> ask_all_and_close(asio::io_context& io, tcp::acceptor& acceptor) {
  const auto all = co_await ask_all(io, acceptor.local_endpoint());
  acceptor.close();
  co_return all;
}

}  // namespace

int main() {
  asio::io_context io(1);
  tcp::acceptor acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  auto listening = weir::spawn(io.get_executor(), listen(acceptor));
  auto asking = weir::spawn(io.get_executor(), ask_all_and_close(io, acceptor));
  io.run();

  int late = 0;
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < requests; ++i) {
    late += takes_long(i) ? 1 : 0;
    sum += takes_long(i) ? 0 : i * i;
  }
  const auto all = asking.get().wait();
  const bool right =
      all.timed_out == late && all.answered + all.timed_out == static_cast<int>(requests) && all.sum == sum;
  return right && all.most_at_once <= 8 ? 0 : 1;
}
