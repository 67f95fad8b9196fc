// Lines from several sockets go into one bounded queue. While it is full nobody reads, and so the senders wait too.

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <weir/weir.hpp>

#include "binding.hpp"

using asio::ip::tcp;

namespace {

constexpr std::size_t senders = 5;
constexpr std::size_t lines_each = 400;

struct line {
  std::size_t from;
  std::string text;
};

// [fan_in]
weir::task<> read_lines(tcp::socket socket, std::size_t from, weir::queue<line>& inbox) {
  std::string buffered;
  for (;;) {
    auto [ended, n] =
        co_await asio::async_read_until(socket, asio::dynamic_buffer(buffered), '\n', as_tuple(weir::use_task));
    if (ended) co_return;
    line read{from, buffered.substr(0, n - 1)};
    buffered.erase(0, n);
    co_await inbox.push(std::move(read));  // while the inbox is full, this socket is not read
  }
}

weir::task<> read_all(tcp::acceptor& acceptor, weir::queue<line>& inbox) {
  std::vector<weir::task<>> readers;
  for (std::size_t i = 0; i < senders; ++i) {
    auto socket = co_await acceptor.async_accept(weir::use_task);
    readers.push_back(read_lines(std::move(socket), i, inbox));
  }
  co_await weir::when_all(std::move(readers));
  inbox.close();  // the consumer pops the remaining items, then nullopt
}
// [fan_in]

struct seen {
  std::vector<std::size_t> next = std::vector<std::size_t>(senders, 0);
  std::size_t most_waiting = 0;
  bool in_order = true;
};

weir::task<seen> consume(weir::queue<line>& inbox) {
  seen all;
  for (;;) {
    auto popped = co_await inbox.pop();
    if (!popped) co_return all;
    auto& expected = all.next[popped->from];
    all.in_order = all.in_order && popped->text == std::to_string(expected);
    ++expected;
    all.most_waiting = std::max(all.most_waiting, inbox.size());
    co_await weir::yield();  // it has other things to do
  }
}

weir::task<> send_lines(asio::io_context& io, tcp::endpoint where) {
  tcp::socket socket(io);
  co_await socket.async_connect(where, weir::use_task);
  for (std::size_t i = 0; i < lines_each; ++i) {
    const std::string text = std::to_string(i) + "\n";
    co_await asio::async_write(socket, asio::buffer(text), weir::use_task);
  }
}

}  // namespace

int main() {
  asio::io_context io(1);
  tcp::acceptor acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  weir::queue<line> inbox(8);
  std::vector<weir::future<void>> under_way;
  under_way.push_back(weir::spawn(io.get_executor(), read_all(acceptor, inbox)));
  for (std::size_t i = 0; i < senders; ++i) {
    under_way.push_back(weir::spawn(io.get_executor(), send_lines(io, acceptor.local_endpoint())));
  }
  auto consumed = weir::spawn(io.get_executor(), consume(inbox));
  io.run();

  for (auto& each : under_way) each.get().wait();  // throws what it has thrown
  const auto all = consumed.get().wait();
  const bool complete = all.next == std::vector<std::size_t>(senders, lines_each);
  return complete && all.in_order && all.most_waiting <= inbox.capacity() ? 0 : 1;
}
