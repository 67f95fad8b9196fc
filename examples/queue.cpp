// A producer and two consumers, with back-pressure and a clean end; then a push_from that times out leaves its item
// untouched.

#include <chrono>
#include <memory>
#include <utility>

#include <weir/weir.hpp>

using namespace std::chrono_literals;

namespace {

// [queue]
weir::task<> produce(weir::queue<int>& jobs) {
  for (int job = 1; job <= 100; ++job) co_await jobs.push(job);  // waits while the queue is full
  jobs.close();                                                  // no more pushes; the items inside can still be popped
}

weir::task<int> consume(weir::queue<int>& jobs) {
  int done = 0;
  for (;;) {
    auto job = co_await jobs.pop();
    if (!job) co_return done;  // closed and drained
    done += *job;
  }
}
// [queue]

// [item]
bool offer(weir::queue<std::unique_ptr<int>>& jobs, std::unique_ptr<int>& job) {
  const auto pushed = jobs.push_from(job).within(5ms).wait();
  return pushed.has_value();  // if false, `job` is untouched
}
// [item]

}  // namespace

int main() {
  weir::queue<int> jobs(8);
  auto [nothing, first, second] = weir::sync_wait(weir::when_all(produce(jobs), consume(jobs), consume(jobs)));
  bool right = first + second == 5050;

  weir::queue<std::unique_ptr<int>> one(1);
  auto accepted = std::make_unique<int>(1);
  auto refused = std::make_unique<int>(2);
  right = right && offer(one, accepted) && !accepted && !offer(one, refused) && refused;
  return right ? 0 : 1;
}
