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

/// One object of each type for each thread. T is constant-initialized and trivially destructible, and WEIR_SHARED.
template <class T>
WEIR_SHARED T& local() noexcept {
  static thread_local constinit T object{};
  return object;
}

using thread = std::thread;

/// The library that this is compiled into is never unloaded from here on: for code that somebody may run whom its users
/// cannot wait for. False: that is not possible, or it is the program. (Windows: GetModuleHandleEx with FROM_ADDRESS
/// and PIN.)
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

/// The same for what lies 16 times as far from `near` as `to` from `from`: of what was made in one go that is right.
inline void prefetch_far(const void* near, const void* from, const void* to) noexcept {
  const auto number = [](const void* place) { return reinterpret_cast<std::uintptr_t>(place); };
  prefetch(reinterpret_cast<const void*>(number(near) + 16 * (number(to) - number(from))));  // NOLINT: a mere address
}

/// The same for a part of something larger: a few cache lines to either side. Not for null.
inline void prefetch_around(const void* soon) noexcept {
  for (const std::ptrdiff_t bytes : {0, -64, +64, -128, +128}) prefetch(static_cast<const char*>(soon) + bytes);
}

/// One step of waiting for something that another thread does in a few instructions. Each look takes the cache line
/// away from who does it: so the first comes only after a few journeys of a line between cores.
class spinner {
 public:
  void step() noexcept {
    if (pauses_ > most_pauses) {
      std::this_thread::yield();  // its holder may have been preempted: give it the processor
      return;
    }
    for (int i = 0; i < pauses_; ++i) pause();
    pauses_ *= 2;
  }

 private:
  static constexpr int most_pauses = 64;
  int pauses_ = 32;
};

/// Puts one thread to sleep until another one calls unpark; an unpark that comes first is kept.
/// The sleeper may destroy the parker as soon as park returns: after its store, unpark uses only the address.
class parker {
 public:
  /// For one that expects an answer: what another core answers at once costs no system call. It looks for a moment; and
  /// for about as long as falling asleep and being woken takes if its last sleep was so short, since then two threads
  /// may do nothing but wake each other.
  WEIR_SHARED void look_then_park() noexcept {
    static const bool others_run = std::thread::hardware_concurrency() > 1;
    if (others_run) look();
    park();
  }

  void park() noexcept {
    if (signalled()) return;
    const clock::time_point begin = clock::now();
    do {
      signal_.wait(0, std::memory_order_relaxed);  // relaxed: signalled() confirms it
    } while (!signalled());
    local<last_sleep>().was_short = clock::now() - begin < 2 * waking_takes;
  }

  void unpark() noexcept {
    // Pairs with the exchange in signalled. seq_cst: notify_one looks whether anybody sleeps, and that look may not be
    // done before the store.
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
        if (signal_.load(std::memory_order_relaxed) != 0) return;  // relaxed: park confirms it
      }
    } while (local<last_sleep>().was_short && clock::now() - begin < waking_takes);
  }

  // acquire: pairs with the store in unpark
  bool signalled() noexcept { return signal_.exchange(0, std::memory_order_acquire) != 0; }

  std::atomic<std::uint32_t> signal_{0};
};

}  // namespace weir::platform
