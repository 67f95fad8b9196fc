#pragma once

// The workloads of those who make threads wait.

#include <thread>
#include <vector>

#include "../harness.hpp"

namespace bench {

/// Calls `body(i)` on so many threads, on all cores in turn.
template <class Body>
timing on_threads(int count, Body body) {
  return timed([&] {
    std::vector<std::jthread> threads;
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([&body, i] {
        pin_this_thread(i);
        body(i);
      });
    }
  });
}

/// W5: as many threads that push as threads that pop.
template <class Push, class Pop>
void through_queue(const run& row, int pairs, Push push, Pop pop) {
  constexpr int items = 1'000'000;
  const auto work = [&](int thread) {
    for (int i = 0; i < items / pairs; ++i) thread % 2 == 0 ? push(i) : pop();
  };
  row.tell_each(on_threads(2 * pairs, work), items);
}

/// W6, a core for each.
template <class Semaphore, class Acquire, class Release>
void ping_pong(const run& row, Semaphore& ping, Semaphore& pong, Acquire acquire, Release release) {
  constexpr int rounds = 50'000;
  const auto play = [&](int thread) {
    Semaphore& mine = thread == 0 ? ping : pong;
    Semaphore& other = thread == 0 ? pong : ping;
    for (int i = 0; i < rounds; ++i) {
      acquire(mine);
      release(other);
    }
  };
  row.tell_each(on_threads(2, play), rounds);
}

}  // namespace bench
