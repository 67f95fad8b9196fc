// A plugin that waits, but never with a time limit.

#include <weir/weir.hpp>

extern "C" [[gnu::visibility("default")]] bool locks();

bool locks() {
  weir::mutex mine;
  mine.lock().wait();
  const bool again = mine.lock().as_result().wait().error() == weir::errc::would_deadlock;
  mine.unlock();
  return again;
}
