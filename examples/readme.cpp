// Ten pages are fetched at once, but never over more than three connections.

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <weir/weir.hpp>

using namespace std::chrono_literals;

namespace {

// [readme]
weir::task<std::string> fetch(weir::semaphore& connections, int page) {
  auto connection = co_await connections.scoped_acquire().within(500ms);  // wait your turn, but not for ever
  if (!connection) co_return "busy";
  co_await weir::sleep_for(2ms);  // talk to the server: no thread is blocked meanwhile
  co_return "page " + std::to_string(page);
}  // the connection is given back here

weir::task<std::vector<std::string>> fetch_all(int pages) {
  weir::semaphore connections(3);  // three at once, the others in the order in which they came
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
