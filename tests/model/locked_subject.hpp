#pragma once

namespace weir::model {

/// A mutex for the races of cases.hpp: locked from the start, and granted by unlocking it.
template <class Mutex>
struct locked_subject {
  static constexpr bool consumes = true;
  static constexpr bool gives_back = true;

  locked_subject() { object.try_lock(); }
  ~locked_subject() {
    if (object.locked()) object.unlock();
  }

  auto wait() { return object.lock(); }
  int grant() { return object.unlock(), 1; }
  void put_back() { object.unlock(); }
  int left() const { return object.locked() ? 0 : 1; }
  void free() { object.unlock(); }

  Mutex object;
};

}  // namespace weir::model
