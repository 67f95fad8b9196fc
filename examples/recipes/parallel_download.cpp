// Twelve files, four at once, the results in the order of the list; one that is missing or too slow costs only itself.
//
// Prints:
//   10 of 12 files, 110 bytes, never more than 4 at once
//   file 3: missing
//   file 7: the wait timed out

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include <weir/weir.hpp>

using namespace std::chrono_literals;

namespace {

struct network {
  weir::event never;
  std::atomic<int> now = 0, most = 0;

  weir::task<std::string> fetch(int file, std::chrono::milliseconds limit) {
    const int at_once = ++now;
    for (int seen = most; seen < at_once && !most.compare_exchange_weak(seen, at_once);) {
    }
    co_await weir::sleep_for(1ms);
    weir::result<> answered;
    if (file == 7) answered = co_await never.wait().within(limit);
    --now;
    answered.value();
    if (file == 3) throw std::runtime_error("missing");
    co_return std::string(11, 'x');
  }
};

// [parallel_download]
struct download {
  int file;
  std::string text;
  std::string failed;  // why; empty: it is there
};

weir::task<download> get(network& net, int file) {
  download made{file, {}, {}};
  try {
    made.text = co_await net.fetch(file, 5ms);
  } catch (const std::exception& e) {
    made.failed = e.what();  // its own affair: let it out, and no more are started
  }
  co_return made;
}

weir::task<std::vector<download>> get_all(weir::thread_pool& threads, network& net, const std::vector<int>& files) {
  auto get_one = [&net](int file) { return get(net, file); };  // not a coroutine itself: it only makes one
  co_return co_await weir::map(threads, files, 4, get_one);    // four at once; the results in the order of the files
}
// [parallel_download]

}  // namespace

int main() {
  weir::thread_pool threads(2);
  network net;
  std::vector<int> files;
  for (int file = 0; file < 12; ++file) files.push_back(file);
  const auto all = weir::sync_wait(get_all(threads, net, files));

  std::size_t bytes = 0;
  std::string failures;
  int there = 0;
  bool right = all.size() == files.size() && net.most <= 4;
  for (std::size_t i = 0; i < all.size(); ++i) {
    right = right && all[i].file == files[i];
    bytes += all[i].text.size();
    there += all[i].failed.empty() ? 1 : 0;
    if (!all[i].failed.empty()) failures += "file " + std::to_string(all[i].file) + ": " + all[i].failed + "\n";
  }
  std::printf("%d of 12 files, %zu bytes, never more than %d at once\n%s", there, bytes, 4, failures.c_str());
  return right && there == 10 ? 0 : 1;
}
