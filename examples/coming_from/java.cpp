// Coming from java.util.concurrent: threads on a bounded queue, with poll(timeout) and a latch, and no poison pill.

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include <weir/weir.hpp>

using namespace std::chrono_literals;

namespace {

// [java]
void worker(weir::queue<int>& jobs, weir::latch& ended, std::atomic<int>& sum) {
  for (;;) {
    auto job = jobs.pop().within(10s).wait();  // poll(10, SECONDS): this thread blocks
    if (!job || !*job) break;                  // timed out, or closed and drained: no poison pill
    sum += **job;
  }
  ended.count_down();
}

weir::task<int> supervise(weir::queue<int>& jobs, weir::latch& ended, std::atomic<int>& sum) {
  for (int job = 1; job <= 100; ++job) co_await jobs.push(job);  // a coroutine, on the same queue as the threads
  jobs.close();
  co_await ended.wait();  // CountDownLatch.await()
  co_return sum.load();
}
// [java]

}  // namespace

int main() {
  weir::queue<int> jobs(4);  // new ArrayBlockingQueue<>(4, true)
  weir::latch ended(2);
  std::atomic<int> sum = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 2; ++i) threads.emplace_back(worker, std::ref(jobs), std::ref(ended), std::ref(sum));
  return weir::sync_wait(supervise(jobs, ended, sum)) == 5050 ? 0 : 1;
}
