// A server that stops on SIGINT: it accepts nobody any more, lets the requests that are under way end, and ends. The
// program is its own client, and raises the signal itself.

#include <array>
#include <csignal>
#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include <weir/weir.hpp>

#include "binding.hpp"

using asio::ip::tcp;

namespace {

/// What a request asks. It answers at once, unless it is told not to.
struct database {
  weir::event asked;
  weir::event answers{true};

  asio::awaitable<void> query() {
    asked.set();
    return answers.async_wait(asio::use_awaitable);
  }
};

// [service]
struct service {
  explicit service(asio::io_context& io) : acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {}

  tcp::acceptor acceptor;
  weir::event stopping;
  weir::wait_group connections;
  int accepted = 0;
  database data;
};

asio::awaitable<void> serve(tcp::socket client, service& at) {
  using namespace asio::experimental::awaitable_operators;
  std::string request;
  while (!at.stopping.is_set()) {
    auto next =
        co_await (asio::async_read_until(client, asio::dynamic_buffer(request), '\n', as_tuple(asio::use_awaitable)) ||
                  at.stopping.async_wait(asio::use_awaitable));
    if (next.index() == 1) co_return;  // it was idle: stop
    const auto [gone, n] = std::get<0>(next);
    if (gone) co_return;
    co_await at.data.query();  // not interrupted: the client gets its answer
    co_await asio::async_write(client, asio::buffer(request, n), asio::use_awaitable);
    request.erase(0, n);
  }
}

asio::awaitable<void> listen(service& at) {
  for (;;) {
    auto [closed, client] = co_await at.acceptor.async_accept(as_tuple(asio::use_awaitable));
    if (closed) co_return;
    ++at.accepted;
    at.connections.add();  // before it starts, not inside it
    asio::co_spawn(at.acceptor.get_executor(), serve(std::move(client), at),
                   [&at](std::exception_ptr) { at.connections.done(); });
  }
}
// [service]

// [stop]
asio::awaitable<void> stop_on(asio::signal_set& signals, service& at) {
  co_await signals.async_wait(asio::use_awaitable);
  at.acceptor.close();                                      // no new connections
  at.stopping.set();                                        // idle connections end now, the others after their request
  co_await at.connections.async_wait(asio::use_awaitable);  // or .wait().within(10s), and then io.stop()
}
// [stop]

asio::awaitable<std::string> read_line(tcp::socket& from) {
  std::string text;
  co_await asio::async_read_until(from, asio::dynamic_buffer(text), '\n', as_tuple(asio::use_awaitable));
  co_return text;  // empty: it was closed
}

asio::awaitable<bool> visit(service& at) {
  const auto where = at.acceptor.local_endpoint();
  const auto here = co_await asio::this_coro::executor;
  tcp::socket idle(here);
  co_await idle.async_connect(where, asio::use_awaitable);
  co_await asio::async_write(idle, asio::buffer(std::string_view("one\n")), asio::use_awaitable);
  bool right = co_await read_line(idle) == "one\n";

  at.data.asked.reset();
  at.data.answers.reset();
  tcp::socket busy(here);
  co_await busy.async_connect(where, asio::use_awaitable);
  co_await asio::async_write(busy, asio::buffer(std::string_view("two\n")), asio::use_awaitable);
  co_await at.data.asked.async_wait(asio::use_awaitable);

  std::raise(SIGINT);
  right = right && (co_await read_line(idle)).empty();
  tcp::socket late(here);
  co_await late.async_connect(where, as_tuple(asio::use_awaitable));
  at.data.answers.set();
  right = right && co_await read_line(busy) == "two\n";
  right = right && (co_await read_line(busy)).empty();
  co_return right&& at.accepted == 2;
}

}  // namespace

int main() {
  asio::io_context io(1);
  service at(io);
  asio::signal_set signals(io, SIGINT, SIGTERM);
  bool right = false;
  bool stopped = false;
  asio::co_spawn(io, listen(at), asio::detached);
  asio::co_spawn(io, stop_on(signals, at), [&stopped](std::exception_ptr failed) { stopped = !failed; });
  asio::co_spawn(io, visit(at), [&right](std::exception_ptr failed, bool checked) { right = !failed && checked; });
  io.run();  // returns when nothing is left to do
  return right && stopped ? 0 : 1;
}
