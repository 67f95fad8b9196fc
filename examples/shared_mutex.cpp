// A cache with concurrent readers; a reader that misses an entry upgrades its lock and adds it.

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <weir/weir.hpp>

namespace {

// [shared_mutex]
struct cache {
  weir::shared_mutex mutex;
  std::map<int, std::string> names;
};

weir::task<std::string> look_up(cache& in, int id) {
  {
    auto reading = co_await in.mutex.scoped_lock_shared();  // together with other readers
    if (auto found = in.names.find(id); found != in.names.end()) co_return found->second;

    auto alone = co_await in.mutex.upgrade(std::move(reading)).as_result();
    if (alone) co_return in.names[id] = "name " + std::to_string(id);  // no writer came between: still missing
  }  // another upgrade was waiting for this reader: release the shared lock and queue for the exclusive one
  auto writing = co_await in.mutex.scoped_lock();
  co_return in.names.try_emplace(id, "name " + std::to_string(id)).first->second;  // another task may have added it
}
// [shared_mutex]

}  // namespace

int main() {
  cache shared;
  bool right = true;
  {
    weir::thread_pool threads(2);
    std::vector<weir::future<std::string>> found;
    for (int i = 0; i < 200; ++i) found.push_back(weir::spawn(threads, look_up(shared, i / 20)));
    for (int i = 0; i < 200; ++i) {
      right = found[static_cast<std::size_t>(i)].get().wait() == "name " + std::to_string(i / 20) && right;
    }
  }
  right = right && shared.names.size() == 10;

  // Down again, with no gap.
  auto writing = shared.mutex.try_scoped_lock();
  auto reading = weir::downgrade(std::move(writing));
  right = right && reading && !shared.mutex.locked() && shared.mutex.readers() == 1 && !shared.mutex.try_lock();
  return right ? 0 : 1;
}
