// Twelve files, four at once, the results in the order of the list; one that is missing or too slow costs only itself.
//
// Prints:
//   10 of 12 files, 110 bytes, never more than 4 at once
//   file 3: the awaited work failed with an exception
//   file 7: the wait timed out

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <weir/weir.hpp>

using namespace std::chrono_literals;

namespace {

struct network {
  std::atomic<int> now = 0, most = 0;
};

/// Somebody else's: answers through a future. Of file 3 it knows nothing, of file 7 it is still thinking.
class connection {
 public:
  explicit connection(network& net) : net_(net) {
    const int at_once = ++net_.now;
    for (int seen = net_.most; seen < at_once && !net_.most.compare_exchange_weak(seen, at_once);) {
    }
  }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection() { --net_.now; }

  weir::future<std::string> fetch(int file) {
    if (file == 3) answer_.set_exception(std::make_exception_ptr(std::runtime_error("missing")));
    if (file != 3 && file != 7) answer_.set_value(std::string(11, 'x'));
    return answer_.get_future();
  }

 private:
  network& net_;
  weir::promise<std::string> answer_;
};

// [parallel_download]
struct download {
  int file;
  std::string text;
  std::string failed;  // the reason; empty if it succeeded
};

weir::task<download> get(network& net, int file) {
  connection to_server(net);
  co_await weir::yield();  // connects
  auto text = to_server.fetch(file);
  auto got = co_await text.get().within(20ms);
  download made{file, {}, {}};
  if (got) {
    made.text = std::move(*got);
  } else {
    made.failed = got.error().message();  // a value: an exception would end the others too
  }
  co_return made;
}

weir::task<std::vector<download>> get_all(weir::thread_pool& threads, network& net, const std::vector<int>& files) {
  auto get_one = std::bind_front(get, std::ref(net));        // with g++ 12 give it a name before the co_await
  co_return co_await weir::map(threads, files, 4, get_one);  // results in the order of the files
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
