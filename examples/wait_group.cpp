// A server that shuts down waits for the requests in progress, for at most ten seconds.

#include <atomic>
#include <chrono>

#include <weir/weir.hpp>

using namespace std::chrono_literals;

namespace {

// [wait_group]
struct server {
  std::atomic<int> answered = 0;
  weir::wait_group requests;
};

weir::task<> handle(server& at) {
  co_await weir::sleep_for(1ms);  // asks the database
  ++at.answered;
  at.requests.done();
}

void accept(server& at, weir::thread_pool& threads) {
  at.requests.add();  // before the task starts, not inside it, so that wait() cannot see 0 too early
  auto detached = weir::spawn(threads, handle(at));
}

weir::task<bool> shut_down(server& at) {
  auto idle = co_await at.requests.wait().within(10s);  // until the count is 0
  co_return idle.has_value();
}
// [wait_group]

}  // namespace

int main() {
  server one;
  weir::thread_pool threads(2);
  for (int i = 0; i < 20; ++i) accept(one, threads);
  bool right = weir::sync_wait(shut_down(one)) && one.answered == 20;

  // A group can be reused.
  accept(one, threads);
  right = right && weir::sync_wait(shut_down(one)) && one.answered == 21;
  return right ? 0 : 1;
}
