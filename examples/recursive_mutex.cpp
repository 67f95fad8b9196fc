// A journal whose functions each lock it and call one another.

#include <cstddef>
#include <string>
#include <vector>

#include <weir/weir.hpp>

namespace {

// [recursive_mutex]
struct journal {
  weir::recursive_mutex mutex;
  std::string text;
};

weir::task<> write(journal& to, std::string line) {
  auto held = co_await to.mutex.scoped_lock();
  to.text += line;
  co_await weir::yield();  // writes it to the disk
}

weir::task<> write_all(journal& to, std::vector<std::string> lines) {
  auto held = co_await to.mutex.scoped_lock();              // no other writer comes between these lines
  for (const auto& line : lines) co_await write(to, line);  // locks again: same chain of tasks, same owner
}
// [recursive_mutex]

}  // namespace

int main() {
  journal one;
  {
    weir::thread_pool threads(2);
    std::vector<weir::future<>> writers;
    for (int i = 0; i < 10; ++i) {
      writers.push_back(weir::spawn(threads, write_all(one, {"a", "b", "c"})));
      writers.push_back(weir::spawn(threads, write(one, "d")));
    }
    for (auto& each : writers) each.get().wait();
  }
  bool right = one.text.size() == 40 && !one.mutex.locked();
  for (std::size_t at = 0; at < one.text.size(); ++at) {
    if (one.text[at] == 'a') right = right && one.text.substr(at, 3) == "abc";
  }

  // A callback has no owner that weir knows of, so it passes an owner_id.
  const auto me = weir::owner_id::make();
  int locked = 0;
  auto first = one.mutex.lock(me).start([&](weir::result<> got) { locked += got ? 1 : 0; });
  auto again = one.mutex.lock(me).start([&](weir::result<> got) { locked += got ? 1 : 0; });
  right = right && first.done() && again.done() && locked == 2 && !one.mutex.try_lock();
  one.mutex.unlock();
  one.mutex.unlock();
  return right && !one.mutex.locked() ? 0 : 1;
}
