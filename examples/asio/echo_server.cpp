// An echo server with room for so many. Whoever finds no place within a moment is told so, and the connection is
// closed.

#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/weir.hpp>

#include "binding.hpp"

using asio::ip::tcp;
using namespace std::chrono_literals;

namespace {

// [echo]
asio::awaitable<void> echo(tcp::socket& client) {
  std::array<char, 512> data;
  for (;;) {
    auto [gone, n] = co_await client.async_read_some(asio::buffer(data), as_tuple(asio::use_awaitable));
    if (gone) co_return;
    co_await asio::async_write(client, asio::buffer(data, n), asio::use_awaitable);
  }
}

asio::awaitable<void> refuse(tcp::socket& client) {
  co_await asio::async_write(client, asio::buffer(std::string_view("busy\n")), asio::use_awaitable);
  client.shutdown(tcp::socket::shutdown_send);
  std::array<char, 512> unread;  // to close with something unread would take back the answer
  while (client.available() > 0) co_await client.async_read_some(asio::buffer(unread), asio::use_awaitable);
}

asio::awaitable<void> serve(tcp::socket client, weir::semaphore& places) {
  auto [full, place] = co_await places.scoped_acquire().within(50ms)(as_tuple(asio::use_awaitable));
  if (full) {
    co_await refuse(client);
  } else {
    co_await echo(client);
  }
}  // the place is free again

asio::awaitable<void> listen(tcp::acceptor& acceptor, weir::semaphore& places) {
  for (;;) {
    auto [closed, client] = co_await acceptor.async_accept(as_tuple(asio::use_awaitable));
    if (closed) co_return;
    asio::co_spawn(acceptor.get_executor(), serve(std::move(client), places), asio::detached);
  }
}
// [echo]

struct seen {
  int served = 0;
  int refused = 0;
};

/// Says hello, and gives all that is answered: "hello\n", or "busy\n" and the end.
asio::awaitable<std::string> greet(tcp::socket& server, tcp::endpoint where) {
  co_await server.async_connect(where, asio::use_awaitable);
  co_await asio::async_write(server, asio::buffer(std::string_view("hello\n")), asio::use_awaitable);
  std::string answer;
  co_await asio::async_read_until(server, asio::dynamic_buffer(answer), '\n', asio::use_awaitable);
  co_return answer;
}

asio::awaitable<void> greet_and_count(tcp::socket& server, tcp::endpoint where, seen& counts) {
  const std::string answer = co_await greet(server, where);
  if (answer == "hello\n") ++counts.served;
  if (answer == "busy\n") ++counts.refused;
}

/// Waits until the server has closed it.
asio::awaitable<void> leave(tcp::socket& server) {
  server.shutdown(tcp::socket::shutdown_send);
  std::array<char, 16> rest;
  co_await server.async_read_some(asio::buffer(rest), as_tuple(asio::use_awaitable));
}

asio::awaitable<bool> visit(tcp::acceptor& acceptor, int room) {
  const auto where = acceptor.local_endpoint();
  const auto here = co_await asio::this_coro::executor;
  std::vector<tcp::socket> inside;
  seen first;
  for (int i = 0; i < room; ++i) {
    inside.emplace_back(here);
    co_await greet_and_count(inside.back(), where, first);  // served, and stays
  }
  seen second;
  for (int i = 0; i < 3; ++i) {
    tcp::socket outside(here);
    co_await greet_and_count(outside, where, second);
  }
  co_await leave(inside.front());
  seen third;
  tcp::socket late(here);
  co_await greet_and_count(late, where, third);  // there is a place again
  acceptor.close();
  co_return first.served == room&& second.refused == 3 && third.served == 1;
}

}  // namespace

int main() {
  constexpr int room = 4;
  asio::io_context io(1);
  weir::semaphore places(room);
  tcp::acceptor acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  bool right = false;
  asio::co_spawn(io, listen(acceptor, places), asio::detached);
  asio::co_spawn(io, visit(acceptor, room),
                 [&right](std::exception_ptr failed, bool checked) { right = !failed && checked; });
  io.run();
  return right && places.available() == room ? 0 : 1;
}
