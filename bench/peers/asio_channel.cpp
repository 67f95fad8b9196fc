// Asio's own channel. A semaphore is a channel that holds its permits: to acquire is to receive one.

#include <chrono>
#include <deque>
#include <exception>
#include <thread>

#include <asio.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/experimental/channel.hpp>
#include <asio/experimental/concurrent_channel.hpp>

#include "../asio_run.hpp"
#include "../harness.hpp"

namespace {

using namespace asio::experimental::awaitable_operators;
using asio::awaitable;
using asio::error_code;
using asio::use_awaitable;
using bench::run;
using bench::timing;

// Asio 1.22 cannot say void(error_code): so a permit is a number that nobody reads.
using one_thread = asio::experimental::channel<void(error_code, int)>;
using any_thread = asio::experimental::concurrent_channel<void(error_code, int)>;

constexpr auto told = asio::experimental::as_tuple(use_awaitable);

template <class Channel>
void release(Channel& channel, int count = 1) {
  for (int i = 0; i < count; ++i) bench::expect(channel.try_send(error_code(), 0), "there is room for every permit");
}

template <class Channel>
awaitable<void> uncontended(Channel& channel, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    co_await channel.async_receive(use_awaitable);
    release(channel);
  }
}

template <class Channel>
awaitable<void> permitted(Channel& channel, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    co_await channel.async_receive(use_awaitable);
    co_await asio::post(use_awaitable);
    release(channel);
  }
}

template <class Channel>
using body = awaitable<void> (*)(Channel&, int);

/// So many tasks and rounds with so many permits.
template <class Channel>
timing rounds(int threads, int permits, int tasks, int each, body<Channel> work) {
  asio::io_context io(threads);
  Channel channel(io, static_cast<std::size_t>(permits));
  release(channel, permits);
  for (int i = 0; i < tasks; ++i) asio::co_spawn(io, work(channel, each), asio::detached);
  return bench::timed([&] { bench::run_with(io, threads); });
}

void w1_w2(const run& row, int permits) {
  row.tell_each(rounds<one_thread>(1, permits, 1, 1'000'000, uncontended), 1'000'000);
}

void w3(const run& row) { row.tell_each(rounds<any_thread>(row.threads(), 1, 1000, 1000, uncontended), 1'000'000); }

/// W3y with one permit, W4 with ten.
void contended(const run& row, int permits) {
  const timing took = row.threads() == 1 ? rounds<one_thread>(1, permits, 1000, 1000, permitted)
                                         : rounds<any_thread>(row.threads(), permits, 1000, 1000, permitted);
  row.tell_each(took, 1'000'000);
}

template <class Channel>
awaitable<void> produce(Channel& channel, int count) {
  for (int i = 0; i < count; ++i) co_await channel.async_send(error_code(), i, use_awaitable);
}

template <class Channel>
awaitable<void> consume(Channel& channel, int count) {
  for (int i = 0; i < count; ++i) co_await channel.async_receive(use_awaitable);
}

template <class Channel>
void w5(const run& row, int pairs) {
  constexpr int items = 1'000'000;
  asio::io_context io(row.threads());
  Channel channel(io, 64);
  for (int i = 0; i < pairs; ++i) {
    asio::co_spawn(io, produce(channel, items / pairs), asio::detached);
    asio::co_spawn(io, consume(channel, items / pairs), asio::detached);
  }
  row.tell_each(bench::timed([&] { bench::run_with(io, row.threads()); }), items);
}

template <class Channel>
awaitable<void> player(Channel& mine, Channel& other, int count) {
  for (int i = 0; i < count; ++i) {
    co_await mine.async_receive(use_awaitable);
    release(other);
  }
}

void w6(const run& row) {
  constexpr int count = 500'000;
  asio::io_context io(1);
  one_thread ping(io, 1);
  one_thread pong(io, 1);
  release(ping);
  asio::co_spawn(io, player(ping, pong, count), asio::detached);
  asio::co_spawn(io, player(pong, ping, count), asio::detached);
  row.tell_each(bench::timed([&] { io.run(); }), count);
}

void w6_across(const run& row) {
  constexpr int count = 100'000;
  asio::io_context here;
  asio::io_context there;
  any_thread ping(here, 1);
  any_thread pong(there, 1);
  release(ping);
  asio::co_spawn(here, player(ping, pong, count), asio::detached);
  asio::co_spawn(there, player(pong, ping, count), asio::detached);
  const timing took = bench::timed([&] {
    std::thread other([&] {
      bench::pin_this_thread(1);
      there.run();
    });
    bench::pin_this_thread(0);
    here.run();
    other.join();
  });
  row.tell_each(took, count);
}

awaitable<void> wait_at(one_thread& gate) { co_await gate.async_receive(use_awaitable); }

void w7(const run& row) {
  asio::io_context io(1);
  one_thread gate(io);
  bench::park_and_release(
      row, io, [&](int) { asio::co_spawn(io, wait_at(gate), asio::detached); },
      [&](int count) { release(gate, count); });
}

awaitable<void> wait_until_cancelled(one_thread& gate, int& cancelled) {
  const auto [error, permit] = co_await gate.async_receive(told);
  cancelled += error ? 1 : 0;
}

/// Each looks through all that wait, so only every hundredth of the 100,000 is cancelled.
void w8(const run& row) {
  constexpr std::size_t waiters = 100'000;
  constexpr std::size_t step = 100;
  asio::io_context io(1);
  one_thread gate(io);
  int cancelled = 0;
  std::deque<asio::cancellation_signal> signals(waiters);
  bench::park_on(io, waiters, [&](int i) {
    asio::co_spawn(io, wait_until_cancelled(gate, cancelled),
                   asio::bind_cancellation_slot(signals[static_cast<std::size_t>(i)].slot(), asio::detached));
  });
  const timing took = bench::timed([&] {
    for (std::size_t i = waiters; i > 0; i -= step) signals[i - 1].emit(asio::cancellation_type::terminal);
    io.restart();
    io.poll();
  });
  bench::expect(cancelled == waiters / step, "those are cancelled");
  row.tell_each(took, waiters / step);
  std::fflush(stdout);
  std::_Exit(0);  // what still waits is not of interest
}

awaitable<void> wait_within(one_thread& gate, std::chrono::milliseconds limit, int& timed_out) {
  asio::steady_timer timer(co_await asio::this_coro::executor, limit);
  const auto first = co_await (gate.async_receive(use_awaitable) || timer.async_wait(use_awaitable));
  timed_out += first.index() == 1 ? 1 : 0;
}

void w9a(const run& row) {
  asio::io_context io(1);
  one_thread gate(io);
  int timed_out = 0;
  bench::limit_and_release(
      row, io, [&](int) { asio::co_spawn(io, wait_within(gate, std::chrono::minutes(1), timed_out), asio::detached); },
      [&](int count) { release(gate, count); });
  bench::expect(timed_out == 0, "nobody times out");
}

void w9b(const run& row) {
  constexpr int waiters = 100'000;
  asio::io_context io(1);
  one_thread gate(io);
  int timed_out = 0;
  const timing took = bench::timed([&] {
    for (int i = 0; i < waiters; ++i) {
      asio::co_spawn(io, wait_within(gate, std::chrono::milliseconds(10), timed_out), asio::detached);
    }
    io.run();
  });
  bench::expect(timed_out == waiters, "all time out");
  row.tell_total(took);
}

awaitable<void> trivial() { co_return; }

template <class Channel>
awaitable<void> submit_all(asio::io_context& io, Channel& slots, int count) {
  for (int i = 0; i < count; ++i) {
    co_await slots.async_receive(use_awaitable);
    asio::co_spawn(io, trivial(), [&slots](std::exception_ptr) { release(slots); });
  }
}

template <class Channel>
void w10(const run& row) {
  constexpr int count = 1'000'000;
  asio::io_context io(row.threads());
  Channel slots(io, 64);
  release(slots, 64);
  asio::co_spawn(io, submit_all(io, slots, count), asio::detached);
  row.tell_each(bench::timed([&] { bench::run_with(io, row.threads()); }), count);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::serve(argc, argv,
                      {{"W1", 1, [](const run& row) { w1_w2(row, 10); }},
                       {"W2", 1, [](const run& row) { w1_w2(row, 1); }},
                       {"W3", 2, w3},
                       {"W3y", 1, [](const run& row) { contended(row, 1); }},
                       {"W3y", 2, [](const run& row) { contended(row, 1); }},
                       {"W4", 1, [](const run& row) { contended(row, 10); }},
                       {"W4", 2, [](const run& row) { contended(row, 10); }},
                       {"W5/1x1", 1, [](const run& row) { w5<one_thread>(row, 1); }},
                       {"W5/1x1", 2, [](const run& row) { w5<any_thread>(row, 1); }},
                       {"W5/4x4", 1, [](const run& row) { w5<one_thread>(row, 4); }},
                       {"W5/4x4", 2, [](const run& row) { w5<any_thread>(row, 4); }},
                       {"W6", 1, w6},
                       {"W6", 2, w6_across},
                       {"W7", 1, w7},
                       {"W8", 1, w8},
                       {"W9a", 1, w9a},
                       {"W9b", 1, w9b},
                       {"W10", 1, w10<one_thread>},
                       {"W10", 2, w10<any_thread>}});
}
