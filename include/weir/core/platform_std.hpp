#pragma once

// What weir takes from the machine, in one place, in terms of the standard library. Nothing above asks
// the operating system for any of this directly, so a deterministic scheduler can offer the same names
// (see core/atomic.hpp) and run the same source on fibers.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stop_token>
#include <thread>
#include <utility>

namespace weir::platform {

template <class T>
using atomic = std::atomic<T>;

using stop_source = std::stop_source;
using stop_token = std::stop_token;

template <class Callback>
using stop_callback = std::stop_callback<Callback>;

/// One object of each type for each thread. T is constant-initialized and trivially destructible.
template <class T>
T& local() noexcept {
  static thread_local constinit T object{};
  return object;
}

using thread = std::thread;

/// How often it pays to look around for work before falling asleep.
inline constexpr int looks_before_sleep = 10;

/// Between two looks of one that waits: leaves the core to its other thread.
inline void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/// For what will be looked at next: of very many waiters none is in a cache any more. Null does nothing.
inline void prefetch(const void* soon) noexcept { __builtin_prefetch(soon); }

/// The same for a part of something larger: a few cache lines to either side. Not for null.
inline void prefetch_around(const void* soon) noexcept {
  for (const std::ptrdiff_t bytes : {0, -64, +64, -128, +128}) prefetch(static_cast<const char*>(soon) + bytes);
}

/// One step of waiting for something that another thread does in a few instructions.
class spinner {
 public:
  void step() noexcept {
    if (++steps_ < steps_before_yielding) {
      pause();
    } else {
      std::this_thread::yield();  // its holder may have been preempted: give it the processor
    }
  }

 private:
  static constexpr int steps_before_yielding = 64;
  int steps_ = 0;
};

/// Puts one thread to sleep until another one calls unpark; an unpark that comes first is kept.
/// The sleeper may destroy the parker as soon as park returns: after its store, unpark uses only the address.
class parker {
 public:
  /// For one that expects an answer: looks for about as long as falling asleep and being woken would take, so that what
  /// another core answers at once costs no system call.
  void look_then_park() noexcept {
    for (int looks = worth_looking(); looks > 0 && signal_.load(std::memory_order_relaxed) == 0; --looks) pause();
    park();
  }

  void park() noexcept {
    // acquire: pairs with the store in unpark
    while (signal_.exchange(0, std::memory_order_acquire) == 0) signal_.wait(0, std::memory_order_relaxed);
  }

  void unpark() noexcept {
    // Pairs with the exchange in park. seq_cst: notify_one looks whether anybody sleeps, and that look may not be
    // done before the store.
    signal_.store(1);
    signal_.notify_one();
  }

 private:
  static int worth_looking() noexcept {
    static const int looks = std::thread::hardware_concurrency() > 1 ? 100 : 0;
    return looks;
  }

  std::atomic<std::uint32_t> signal_{0};
};

}  // namespace weir::platform
