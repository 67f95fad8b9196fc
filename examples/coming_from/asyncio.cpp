// Coming from asyncio: workers on a queue, with join() and task_done(), and a wait that is given up.

#include <chrono>
#include <utility>
#include <vector>

#include <weir/weir.hpp>

using namespace std::chrono_literals;

namespace {

// [asyncio]
struct work {
  weir::queue<int> jobs{8};
  weir::wait_group unfinished;  // what Queue counts for join()
  int sum = 0;
};

weir::task<> worker(work& shared) {
  while (auto job = co_await shared.jobs.pop()) {
    co_await weir::yield();  // asyncio.sleep(0)
    shared.sum += *job;
    shared.unfinished.done();  // task_done()
  }
}

weir::task<bool> feed(work& shared) {
  for (int job = 1; job <= 20; ++job) {
    shared.unfinished.add();
    co_await shared.jobs.push(job);  // put()
  }
  auto joined = co_await shared.unfinished.wait().within(10s);  // wait_for(queue.join(), 10)
  shared.jobs.close();                                          // shutdown(): the workers end without being cancelled
  co_return joined.has_value();
}
// [asyncio]

}  // namespace

int main() {
  work shared;
  auto all = weir::when_all(feed(shared), worker(shared), worker(shared));  // gather
  auto [joined, a, b] = weir::sync_wait(std::move(all));
  return joined && shared.sum == 210 ? 0 : 1;
}
