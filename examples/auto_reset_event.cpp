// Many changes, few writes: the saving task learns that there is something to save, not how often it changed.

#include <atomic>
#include <chrono>

#include <weir/weir.hpp>

using namespace std::chrono_literals;

namespace {

// [auto_reset_event]
struct document {
  std::atomic<int> version = 0;
  weir::auto_reset_event changed;
};

weir::task<> edit(document& doc, int times) {
  for (int i = 0; i < times; ++i) {
    ++doc.version;
    doc.changed.set();  // no effect if already set: the next save includes this change too
    if (i % 10 == 9) co_await weir::yield();
  }
}

weir::task<int> save(document& doc, int last) {
  int saves = 0;
  for (int saved = 0; saved < last; ++saves) {
    co_await doc.changed.wait();  // resets the event: any later change sets it again
    saved = doc.version;
    co_await weir::yield();  // writes the file
  }
  co_return saves;
}
// [auto_reset_event]

}  // namespace

int main() {
  document doc;
  auto [saves, nothing] = weir::sync_wait(weir::when_all(save(doc, 100), edit(doc, 100)));
  bool right = saves > 0 && saves < 100 && doc.version == 100;

  // Sets do not accumulate, and a wait that timed out has consumed none.
  weir::auto_reset_event twice;
  twice.set();
  twice.set();
  right = right && twice.wait().within(0s).wait().has_value();
  right = right && !twice.wait().within(1ms).wait();
  twice.set();
  return right && twice.is_set() ? 0 : 1;
}
