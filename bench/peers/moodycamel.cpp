// moodycamel: its queue has no bound, so a semaphore of its own counts the room.

#include <concurrentqueue/blockingconcurrentqueue.h>
#include <concurrentqueue/lightweightsemaphore.h>

#include "../harness.hpp"
#include "threads.hpp"

namespace {

using bench::run;
using semaphore = moodycamel::LightweightSemaphore;

void w1(const run& row) {
  constexpr int rounds = 5'000'000;
  semaphore permits(10);
  row.tell_each(bench::timed([&] {
                  for (int i = 0; i < rounds; ++i) {
                    permits.wait();
                    permits.signal();
                  }
                }),
                rounds);
}

void w5(const run& row, int pairs) {
  moodycamel::BlockingConcurrentQueue<int> queue;
  semaphore room(64);
  const auto push = [&](int item) {
    room.wait();
    queue.enqueue(item);
  };
  const auto pop = [&] {
    int item = 0;
    queue.wait_dequeue(item);
    room.signal();
  };
  bench::through_queue(row, pairs, push, pop);
}

void w6(const run& row) {
  semaphore ping(1);
  semaphore pong(0);
  bench::ping_pong(row, ping, pong, [](semaphore& mine) { mine.wait(); }, [](semaphore& other) { other.signal(); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::serve(argc, argv,
                      {{"W1", 1, w1},
                       {"W5/1x1", 2, [](const run& row) { w5(row, 1); }},
                       {"W5/4x4", 2, [](const run& row) { w5(row, 4); }},
                       {"W6", 2, w6}});
}
