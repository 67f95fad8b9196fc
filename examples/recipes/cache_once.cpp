// Twenty tasks ask for two keys at the same moment: each value is computed once, and all get it. One whose computation
// fails is computed anew for the next that asks.
//
// Prints:
//   20 answers, 2 computations
//   2 failures, then value of c: 3 computations

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weir/weir.hpp>

namespace {

struct backend {
  std::atomic<int> computed = 0;
  std::atomic<bool> broken = false;
  weir::event answers;

  weir::task<std::string> compute(std::string key) {
    ++computed;
    co_await answers.wait();
    if (broken) throw std::runtime_error("no answer");
    co_return "value of " + key;
  }
};

// [cache_once]
class cache {
 public:
  explicit cache(backend& computes) : backend_(computes) {}

  weir::task<std::string> get(std::string key) {
    bool first = false;
    auto found = find(key, first);  // shared: the map may drop it while we wait
    if (first) co_await fill(*found, key);
    co_await found->ready.wait();  // one computes, the others wait here
    if (found->failed) std::rethrow_exception(found->failed);
    co_return found->value;
  }

 private:
  struct entry {
    weir::event ready;  // what was written before set() is visible after wait()
    std::string value;
    std::exception_ptr failed;
  };

  std::shared_ptr<entry> find(const std::string& key, bool& first) {
    const std::lock_guard lock(mutex_);  // never held across a wait
    auto& place = entries_[key];
    first = !place;
    if (first) place = std::make_shared<entry>();
    return place;
  }

  weir::task<> fill(entry& made, const std::string& key) {
    try {
      made.value = co_await backend_.compute(key);
    } catch (...) {
      made.failed = std::current_exception();  // for the current waiters; the next caller computes again
      const std::lock_guard lock(mutex_);
      entries_.erase(key);
    }
    made.ready.set();
  }

  backend& backend_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<entry>> entries_;
};
// [cache_once]

}  // namespace

int main() {
  backend slow;
  cache known(slow);
  weir::thread_pool threads(2);
  std::vector<weir::future<std::string>> answers;
  for (int i = 0; i < 20; ++i) answers.push_back(weir::spawn(threads, known.get(i % 2 == 0 ? "a" : "b")));
  while (slow.computed < 2) std::this_thread::yield();
  slow.answers.set();
  int right = 0;
  for (std::size_t i = 0; i < 20; ++i) right += answers[i].get().wait() == (i % 2 == 0 ? "value of a" : "value of b");
  std::printf("%d answers, %d computations\n", right, slow.computed.load());
  bool as_expected = right == 20 && slow.computed == 2;

  slow.broken = true;
  int failed = 0;
  for (int i = 0; i < 2; ++i) failed += weir::spawn(threads, known.get("c")).get().as_result().wait() ? 0 : 1;
  slow.broken = false;
  const auto found = weir::sync_wait(known.get("c"));
  std::printf("%d failures, then %s: %d computations\n", failed, found.c_str(), slow.computed.load() - 2);
  as_expected = as_expected && failed == 2 && found == "value of c" && slow.computed == 5;
  return as_expected ? 0 : 1;
}
