#pragma once

// The machine as weir uses it, in one place, based on the standard library. No other file asks the operating system
// for any of this directly, so a deterministic scheduler can define the same names (see core/atomic.hpp) and run the
// same source on fibers.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stop_token>
#include <thread>
#include <utility>

#include <weir/core/shared.hpp>

#if __has_include(<dlfcn.h>)
#include <dlfcn.h>
#endif

namespace weir::platform {

template <class T>
using atomic = std::atomic<T>;

using stop_source = std::stop_source;
using stop_token = std::stop_token;

template <class Callback>
using stop_callback = std::stop_callback<Callback>;

/// Returns this thread's object of type T. T is constant-initialized, trivially destructible and WEIR_SHARED.
template <class T>
WEIR_SHARED T& local() noexcept {
  static thread_local constinit T object{};
  return object;
}

using thread = std::thread;

/// Prevents the library that this is compiled into from being unloaded: for code that may be run by a thread that
/// its users cannot wait for. False: this is not possible, or the code is part of the program. (On Windows it would be
/// GetModuleHandleEx with FROM_ADDRESS and PIN.)
WEIR_PER_LIBRARY inline bool keep_library_loaded() noexcept {
#if defined(RTLD_NODELETE) && defined(RTLD_NOLOAD)
  static const bool kept = [] {
    Dl_info library{};
    return dladdr(&kept, &library) != 0 && dlopen(library.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE) != nullptr;
  }();
  return kept;
#else
  return false;
#endif
}

/// The number of times that a worker looks for work before it sleeps.
inline constexpr int looks_before_sleep = 10;

/// Called between two looks of a waiting thread: leaves the core to its other hardware thread.
inline void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/// Prefetches what will be read next: with very many waiters none is in a cache. Null does nothing. The callers, in
/// core/waiter.hpp and core/work.hpp, state what each prefetch gains (docs/decisions/0009).
inline void prefetch(const void* soon) noexcept { __builtin_prefetch(soon); }

/// Prefetches near + 16 × (to − from): the right address if objects were allocated back to back, else harmless.
inline void prefetch_far(const void* near, const void* from, const void* to) noexcept {
  const auto number = [](const void* place) { return reinterpret_cast<std::uintptr_t>(place); };
  prefetch(reinterpret_cast<const void*>(number(near) + 16 * (number(to) - number(from))));  // NOLINT: a mere address
}

/// Prefetches a part of a larger object, with two cache lines on either side. `soon` is not null.
inline void prefetch_around(const void* soon) noexcept {
  for (const std::ptrdiff_t bytes : {0, -64, +64, -128, +128}) prefetch(static_cast<const char*>(soon) + bytes);
}

/// Waits in steps for something that another thread does in a few instructions. Each look takes the cache line from
/// that thread: so the first step already lasts as long as a line takes to move between cores a few times.
class spinner {
 public:
  void step() noexcept {
    if (pauses_ > most_pauses) {
      std::this_thread::yield();  // the other thread may have been preempted: leave it the processor
      return;
    }
    for (int i = 0; i < pauses_; ++i) pause();
    pauses_ *= 2;
  }

 private:
  static constexpr int most_pauses = 64;
  int pauses_ = 32;
};

/// Puts one thread to sleep until another one calls unpark(); an earlier unpark() is remembered. The sleeper may
/// destroy the parker as soon as park() returns: after its store, unpark() uses only the address.
class parker {
 public:
  /// Looks for the signal before it parks: an immediate answer from another core then costs no system call. It looks
  /// for a moment or, if the thread's last sleep was short, for about as long as sleeping and waking takes: two threads
  /// may then do nothing but wake each other.
  WEIR_SHARED void look_then_park() noexcept {
    static const bool others_run = std::thread::hardware_concurrency() > 1;
    if (others_run) look();
    park();
  }

  void park() noexcept {
    if (signalled()) return;
    const clock::time_point begin = clock::now();
    do {
      signal_.wait(0, std::memory_order_relaxed);  // relaxed: signalled() acquires
    } while (!signalled());
    local<last_sleep>().was_short = clock::now() - begin < 2 * waking_takes;
  }

  void unpark() noexcept {
    // seq_cst: pairs with the exchange in signalled(), and notify_one must not look for sleepers before the store
    signal_.store(1);
    signal_.notify_one();
  }

 private:
  using clock = std::chrono::steady_clock;
  static constexpr int looks_at_least = 100;
  static constexpr clock::duration waking_takes = std::chrono::microseconds(50);

  struct WEIR_SHARED last_sleep {
    bool was_short;
  };

  void look() const noexcept {
    const clock::time_point begin = clock::now();
    do {
      for (int looks = 0; looks < looks_at_least; ++looks, pause()) {
        if (signal_.load(std::memory_order_relaxed) != 0) return;  // relaxed: park() acquires
      }
    } while (local<last_sleep>().was_short && clock::now() - begin < waking_takes);
  }

  // acquire: pairs with the store in unpark()
  bool signalled() noexcept { return signal_.exchange(0, std::memory_order_acquire) != 0; }

  std::atomic<std::uint32_t> signal_{0};
};

}  // namespace weir::platform
