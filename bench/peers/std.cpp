// The standard library's own: whoever waits is a thread.

#include <condition_variable>
#include <deque>
#include <mutex>
#include <semaphore>

#include "../harness.hpp"
#include "threads.hpp"

namespace {

using bench::run;

void w1(const run& row) {
  constexpr int rounds = 5'000'000;
  std::counting_semaphore<> semaphore(10);
  row.tell_each(bench::timed([&] {
                  for (int i = 0; i < rounds; ++i) {
                    semaphore.acquire();
                    semaphore.release();
                  }
                }),
                rounds);
}

void w2(const run& row) {
  constexpr int rounds = 5'000'000;
  std::mutex mutex;
  row.tell_each(bench::timed([&] {
                  for (int i = 0; i < rounds; ++i) {
                    mutex.lock();
                    bench::keep(mutex);
                    mutex.unlock();
                  }
                }),
                rounds);
}

/// As many threads as cores, instead of a thousand tasks.
void w3(const run& row) {
  constexpr int rounds = 5'000'000;
  std::mutex mutex;
  long counted = 0;
  row.tell_each(bench::on_threads(row.threads(),
                                  [&](int) {
                                    for (int i = 0; i < rounds / 2; ++i) {
                                      std::lock_guard lock(mutex);
                                      bench::keep(++counted);
                                    }
                                  }),
                rounds);
}

/// A mutex, two conditions and a deque.
class bounded_queue {
 public:
  void push(int item) {
    std::unique_lock lock(mutex_);
    not_full_.wait(lock, [&] { return items_.size() < 64; });
    items_.push_back(item);
    not_empty_.notify_one();
  }

  void pop() {
    std::unique_lock lock(mutex_);
    not_empty_.wait(lock, [&] { return !items_.empty(); });
    items_.pop_front();
    not_full_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable not_full_;
  std::condition_variable not_empty_;
  std::deque<int> items_;
};

void w5(const run& row, int pairs) {
  bounded_queue queue;
  bench::through_queue(row, pairs, [&](int item) { queue.push(item); }, [&] { queue.pop(); });
}

void w6(const run& row) {
  std::binary_semaphore ping(1);
  std::binary_semaphore pong(0);
  bench::ping_pong(row, ping, pong, [](auto& mine) { mine.acquire(); }, [](auto& other) { other.release(); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::serve(argc, argv,
                      {{"W1", 1, w1},
                       {"W2", 1, w2},
                       {"W3", 2, w3},
                       {"W5/1x1", 2, [](const run& row) { w5(row, 1); }},
                       {"W5/4x4", 2, [](const run& row) { w5(row, 4); }},
                       {"W6", 2, w6}});
}
