#pragma once

// A library that is loaded and unloaded while the program runs.

#include <condition_variable>
#include <mutex>

#include <gtest/gtest.h>

#include <dlfcn.h>

#include "library.hpp"

namespace weir::test {

class plugin {
 public:
  plugin(const char* file, int scope) : handle_(dlopen(file, RTLD_NOW | scope)) {
    if (handle_ == nullptr) throw std::runtime_error(dlerror());
  }
  plugin(const plugin&) = delete;
  plugin& operator=(const plugin&) = delete;
  ~plugin() { dlclose(handle_); }

  template <class Function>
  Function* find(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(handle_, name));  // NOLINT: as POSIX has it
  }
  const library* operator->() const { return find<const library*()>("shared_plugin")(); }

  static bool is_loaded(const char* file) {
    void* const handle = dlopen(file, RTLD_NOW | RTLD_NOLOAD);
    if (handle != nullptr) dlclose(handle);
    return handle != nullptr;
  }

 private:
  void* handle_;
};

/// Without weir, for a program that has none.
class called {
 public:
  static void call(void* argument) {
    auto& self = *static_cast<called*>(argument);
    const std::lock_guard lock(self.mutex_);
    self.done_ = true;
    self.changed_.notify_one();
  }

  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
};

/// With a time limit that passes, and with one that is not needed any more.
inline void use_limits(const plugin& loaded) {
  called timed_out;
  loaded->calls_after_a_limit(called::call, &timed_out);
  timed_out.wait();
  loaded->uses_a_limit_in_vain();
}

}  // namespace weir::test
