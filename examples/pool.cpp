// Fetches many pages, at most five at a time; a fetch that fails reports it through its future.

#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <weir/weir.hpp>

using namespace std::chrono_literals;

namespace {

struct summary {
  int found = 0;
  int missing = 0;
  std::size_t most_at_once = 0;
};

// [pool]
weir::task<std::string> fetch(int page) {
  co_await weir::sleep_for(1ms);  // talks to the server
  if (page % 10 == 3) throw std::runtime_error("no such page");
  co_return "page " + std::to_string(page);
}

weir::task<summary> crawl(weir::thread_pool& threads, int pages) {
  weir::pool fetches(threads, 5);
  std::vector<weir::future<std::string>> texts;
  for (int page = 0; page < pages; ++page) {
    auto text = co_await fetches.submit(fetch(page));  // waits while five tasks are running
    texts.push_back(std::move(text));
  }
  co_await fetches.join();  // waits until no task is running: all futures are ready

  summary seen{.most_at_once = fetches.peak()};
  for (auto& text : texts) {
    auto got = co_await text.get().as_result();  // a task's exception is stored in its future, never in the pool
    ++(got ? seen.found : seen.missing);
  }
  co_return seen;
}
// [pool]

}  // namespace

int main() {
  weir::thread_pool threads(2);
  const auto seen = weir::sync_wait(crawl(threads, 40));
  return seen.found == 36 && seen.missing == 4 && seen.most_at_once <= 5 ? 0 : 1;
}
