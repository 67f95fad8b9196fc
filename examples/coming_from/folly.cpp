// Coming from folly::coro: a window of tasks, a semaphore with a time limit, and a stop that reaches the wait.

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>
#include <vector>

#include <weir/weir.hpp>

using namespace std::chrono_literals;

namespace {

// [folly]
weir::task<std::string> fetch(weir::semaphore& connections, int page) {
  const auto me = co_await weir::this_task();  // co_current_cancellation_token
  auto connection = co_await connections.scoped_acquire().within(10s).stop_on(me.stop);
  if (!connection) co_return connection.error() == weir::errc::timed_out ? "busy" : "stopped";
  co_await weir::yield();
  co_return "page " + std::to_string(page);
}

weir::task<std::vector<std::string>> fetch_all(weir::thread_pool& threads, weir::semaphore& connections,
                                               std::vector<int> pages) {
  auto fetch_one = [&connections](int page) { return fetch(connections, page); };
  co_return co_await weir::map(threads, pages, 4, fetch_one);  // collectAllWindowed(..., 4): in page order
}
// [folly]

}  // namespace

int main() {
  weir::thread_pool threads(2);
  weir::semaphore connections(2);
  const std::vector<int> pages{1, 2, 3, 4, 5};
  const auto texts = weir::sync_wait(fetch_all(threads, connections, pages));
  bool right = texts.size() == 5 && texts.front() == "page 1" && texts.back() == "page 5";

  std::stop_source stop;
  auto all = connections.try_scoped_acquire(2);
  auto waits = weir::spawn(threads, fetch(connections, 6), stop.get_token());
  stop.request_stop();
  right = right && waits.get().wait() == "stopped" && connections.waiting() == 0;
  return right ? 0 : 1;
}
