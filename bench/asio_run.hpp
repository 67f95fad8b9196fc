#pragma once

// How the rows under Asio run, weir's and those of Asio's channel: an io_context with one thread, or with several.

#include <thread>
#include <vector>

#include <asio.hpp>

#include "harness.hpp"

namespace bench {

/// Each thread has a core of its own, as far as there are cores.
inline void run_with(asio::io_context& io, int threads) {
  std::vector<std::jthread> all;
  for (int i = 1; i < threads; ++i) {
    all.emplace_back([&io, i] {
      pin_this_thread(i);
      io.run();
    });
  }
  if (threads > 1) pin_this_thread(0);
  io.run();
}

/// Calls `start(io)`, then runs all that it has started to its end.
template <class Start>
timing run_on_context(int threads, Start start) {
  asio::io_context io(threads);
  return timed([&] {
    start(io);
    run_with(io, threads);
  });
}

/// Calls `start(i)` `count` times, then runs until nothing more can run: all wait.
template <class Start>
timing park_on(asio::io_context& io, int count, Start start) {
  return timed([&] {
    for (int i = 0; i < count; ++i) start(i);
    io.restart();
    io.poll();
  });
}

/// Runs until nobody waits any more.
inline timing finish_on(asio::io_context& io) {
  return timed([&] {
    io.restart();
    io.run();
  });
}

/// W7: `start()` starts one that waits, `open(n)` lets n through.
template <class Start, class Open>
void park_and_release(const run& row, asio::io_context& io, Start start, Open open) {
  constexpr int waiters = 1'000'000;
  park_on(io, 1000, start);
  open(1000);
  finish_on(io);

  const double before = resident();
  const timing parked = park_on(io, waiters, start);
  const double after = resident();
  const timing released = timed([&] {
    open(waiters);
    finish_on(io);
  });
  row.tell_each(parked, waiters, "park_ns");
  row.tell("bytes_per_waiter", (after - before) / waiters, "bytes");
  row.tell_each(released, waiters, "release_ns");
}

/// W9a: the same with time limits, all satisfied.
template <class Start, class Open>
void limit_and_release(const run& row, asio::io_context& io, Start start, Open open) {
  constexpr int waiters = 100'000;
  const auto once = [&](int count) {
    park_on(io, count, start);
    open(count);
    finish_on(io);
  };
  once(1000);
  row.tell_each(timed([&] { once(waiters); }), waiters);
}

}  // namespace bench
