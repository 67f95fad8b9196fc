// A server that shuts down lets the requests end that are under way, but does not wait for ever.

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
  at.requests.add();  // before it begins, not in it: nobody can find 0 meanwhile
  auto detached = weir::spawn(threads, handle(at));
}

weir::task<bool> shut_down(server& at) {
  auto idle = co_await at.requests.wait().within(10s);  // those under way, and those that come meanwhile
  co_return idle.has_value();
}
// [wait_group]

}  // namespace

int main() {
  server one;
  weir::thread_pool threads(2);
  for (int i = 0; i < 20; ++i) accept(one, threads);
  bool right = weir::sync_wait(shut_down(one)) && one.answered == 20;

  // The same group again.
  accept(one, threads);
  right = right && weir::sync_wait(shut_down(one)) && one.answered == 21;
  return right ? 0 : 1;
}
