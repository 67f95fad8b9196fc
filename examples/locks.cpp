// A table that many read and few change; a value that can only be reached under its lock; a lock taken twice.

#include <map>
#include <string>
#include <utility>

#include <weir/weir.hpp>

namespace {

// [locks]
weir::task<std::string> look_up(weir::shared_mutex& m, std::map<int, std::string>& names, int id) {
  auto reading = co_await m.scoped_lock_shared();  // together with other readers
  if (auto found = names.find(id); found != names.end()) co_return found->second;
  auto writing = co_await m.upgrade(std::move(reading));  // alone, and nobody came between
  co_return names[id] = "new";
}

weir::task<> count(weir::guarded<int>& counter) {
  auto ref = co_await counter.lock();
  ++*ref;
}  // unlocked here

weir::task<> inner(weir::recursive_mutex& m) { auto again = co_await m.scoped_lock(); }
weir::task<> outer(weir::recursive_mutex& m) {
  auto held = co_await m.scoped_lock();
  co_await inner(m);  // the same chain of tasks: it may
}
// [locks]

}  // namespace

int main() {
  weir::shared_mutex m;
  std::map<int, std::string> names{{1, "one"}};
  const bool right = weir::sync_wait(look_up(m, names, 1)) == "one" && weir::sync_wait(look_up(m, names, 2)) == "new";

  weir::guarded<int> counter(0);
  weir::sync_wait(weir::when_all(count(counter), count(counter)));
  weir::recursive_mutex twice;
  weir::sync_wait(outer(twice));
  return right && *counter.lock().wait() == 2 && !twice.locked() ? 0 : 1;
}
