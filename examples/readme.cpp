// Ten tasks fetch pages concurrently, over at most three connections at a time.

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <weir/weir.hpp>

using namespace std::chrono_literals;

namespace {

// [readme]
weir::task<std::string> fetch(weir::semaphore& connections, int page) {
  auto connection = co_await connections.scoped_acquire().within(500ms);  // at most 500 ms
  if (!connection) co_return "busy";
  co_await weir::sleep_for(2ms);  // talks to the server; no thread is blocked
  co_return "page " + std::to_string(page);
}  // the permit is released here

weir::task<std::vector<std::string>> fetch_all(int pages) {
  weir::semaphore connections(3);  // at most three at a time, in FIFO order
  std::vector<weir::task<std::string>> fetches;
  for (int page = 0; page < pages; ++page) fetches.push_back(fetch(connections, page));
  co_return co_await weir::when_all(std::move(fetches));
}
// [readme]

}  // namespace

int main() {
  weir::thread_pool threads(2);
  const auto pages = weir::spawn(threads, fetch_all(10)).get().wait();
  const bool all = pages.size() == 10 && pages.front() == "page 0" && pages.back() == "page 9";

  weir::semaphore none(0);
  const bool gave_up = weir::sync_wait(fetch(none, 1)) == "busy";
  return all && gave_up ? 0 : 1;
}
