// Boost.Fiber, whose fibers keep to their thread. It has no semaphore: a channel holds the permits. A channel's size is
// a power of two, and it holds one less.

#include <boost/fiber/all.hpp>

#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include "../harness.hpp"

namespace {

namespace fibers = boost::fibers;
using bench::run;
using bench::timing;
using permits = fibers::buffered_channel<int>;

constexpr auto popped = fibers::channel_op_status::success;

void release(permits& channel, int count = 1) {
  for (int i = 0; i < count; ++i) bench::expect(channel.try_push(0) == popped, "there is room for every permit");
}

int acquire(permits& channel) {
  int permit = 0;
  bench::expect(channel.pop(permit) == popped, "nobody closes it");
  return permit;
}

/// Calls `body(i)` in so many fibers of this thread.
template <class Body>
timing in_fibers(int count, Body body) {
  static fibers::pooled_fixedsize_stack stacks(16 * 1024);
  return bench::timed([&] {
    std::vector<fibers::fiber> all;
    for (int i = 0; i < count; ++i) all.emplace_back(std::allocator_arg, stacks, [&body, i] { body(i); });
    for (auto& each : all) each.join();
  });
}

void w1(const run& row) {
  constexpr int rounds = 1'000'000;
  permits channel(16);
  release(channel, 10);
  row.tell_each(bench::timed([&] {
                  for (int i = 0; i < rounds; ++i) {
                    acquire(channel);
                    release(channel);
                  }
                }),
                rounds);
}

void w2(const run& row) {
  constexpr int rounds = 1'000'000;
  fibers::mutex mutex;
  row.tell_each(bench::timed([&] {
                  for (int i = 0; i < rounds; ++i) {
                    mutex.lock();
                    mutex.unlock();
                  }
                }),
                rounds);
}

void w3y(const run& row) {
  fibers::mutex mutex;
  const auto work = [&](int) {
    for (int i = 0; i < 1000; ++i) {
      mutex.lock();
      boost::this_fiber::yield();
      mutex.unlock();
    }
  };
  row.tell_each(in_fibers(1000, work), 1'000'000);
}

void w4(const run& row) {
  permits channel(16);
  release(channel, 10);
  const auto work = [&](int) {
    for (int i = 0; i < 1000; ++i) {
      acquire(channel);
      boost::this_fiber::yield();
      release(channel);
    }
  };
  row.tell_each(in_fibers(1000, work), 1'000'000);
}

void w5(const run& row, int pairs) {
  constexpr int items = 1'000'000;
  fibers::buffered_channel<int> channel(64);
  const auto work = [&](int fiber) {
    for (int i = 0; i < items / pairs; ++i) {
      if (fiber % 2 == 0) {
        channel.push(i);
      } else {
        acquire(channel);
      }
    }
  };
  row.tell_each(in_fibers(2 * pairs, work), items);
}

void w6(const run& row) {
  constexpr int rounds = 500'000;
  permits ping(2);
  permits pong(2);
  release(ping);
  const auto play = [&](int fiber) {
    for (int i = 0; i < rounds; ++i) {
      acquire(fiber == 0 ? ping : pong);
      release(fiber == 0 ? pong : ping);
    }
  };
  row.tell_each(in_fibers(2, play), rounds);
}

/// 10,000 instead of 100,000: each has a stack.
void w9a(const run& row) {
  constexpr int waiters = 10'000;
  permits gate(16'384);
  const auto work = [&](int fiber) {
    int permit = 0;
    if (fiber == waiters) {
      release(gate, waiters);
    } else {
      bench::expect(gate.pop_wait_for(permit, std::chrono::minutes(1)) == popped, "nobody times out");
    }
  };
  row.tell_each(in_fibers(waiters + 1, work), waiters);
}

void w10(const run& row) {
  constexpr int count = 200'000;
  permits slots(128);
  release(slots, 64);
  fibers::pooled_fixedsize_stack stacks(16 * 1024);
  row.tell_each(bench::timed([&] {
                  for (int i = 0; i < count; ++i) {
                    acquire(slots);
                    fibers::fiber(std::allocator_arg, stacks, [&slots] { release(slots); }).detach();
                  }
                  for (int i = 0; i < 64; ++i) acquire(slots);
                }),
                count);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::serve(argc, argv,
                      {{"W1", 1, w1},
                       {"W2", 1, w2},
                       {"W3y", 1, w3y},
                       {"W4", 1, w4},
                       {"W5/1x1", 1, [](const run& row) { w5(row, 1); }},
                       {"W5/4x4", 1, [](const run& row) { w5(row, 4); }},
                       {"W6", 1, w6},
                       {"W9a", 1, w9a},
                       {"W10", 1, w10}});
}
