// Reads the sizes of many files, at most four at a time, in file order; then removes them one by one.

#include <chrono>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <weir/weir.hpp>

using namespace std::chrono_literals;

namespace {

using names = std::vector<std::string>;

// [for_each]
weir::task<std::size_t> size_of(std::string file) {
  co_await weir::sleep_for(1ms);  // asks the file server
  if (file.empty()) throw std::invalid_argument("a file without a name");
  co_return file.size();
}

weir::task<> remove(std::string file, names& removed) {
  co_await weir::yield();
  removed.push_back(file);
}

weir::task<std::size_t> clean_up(weir::thread_pool& threads, const names& files, names& removed) {
  auto sizes = co_await weir::map(threads, files, 4, size_of);  // at most four at a time; results in file order
  auto remove_one = [&removed](const std::string& file) { return remove(file, removed); };
  co_await weir::for_each(threads, files, 1, remove_one);  // one at a time
  co_return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
}
// [for_each]

}  // namespace

int main() {
  weir::thread_pool threads(2);
  names removed;
  const names files{"a", "bb", "cccc", "ddd"};
  bool right = weir::sync_wait(clean_up(threads, files, removed)) == 10 && removed == files;
  right = right && weir::sync_wait(weir::map(threads, files, 4, size_of)) == std::vector<std::size_t>{1, 2, 4, 3};

  // The first exception ends it: nothing was removed.
  removed.clear();
  bool told = false;
  const names bad{"a", "", "b"};
  try {
    weir::sync_wait(clean_up(threads, bad, removed));
  } catch (const std::invalid_argument&) {
    told = true;
  }
  return right && told && removed.empty() ? 0 : 1;
}
