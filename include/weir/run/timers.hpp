#pragma once

// The timer service: one wheel and one lock. It does not know its driver, which moves the clock: a thread that the
// first limit starts (timer_thread), a test (manual_timers), or an io_context.

#include <mutex>
#include <optional>
#include <thread>

#include <weir/core/atomic.hpp>
#include <weir/core/chrono.hpp>
#include <weir/core/flat_loop.hpp>
#include <weir/core/park.hpp>
#include <weir/core/shared.hpp>
#include <weir/core/spin_lock.hpp>
#include <weir/core/timer.hpp>
#include <weir/run/alarm.hpp>
#include <weir/run/timer_wheel.hpp>

namespace weir {

/// The driver calls fire_expired() when the next timer is due; wake_by() notifies it if that is earlier than it knew.
class timer_service : public core::timer_source {
 public:
  /// Called by a wait that starts; disarm() by one that ends: it returns false if the timer has fired or is about to.
  void arm(core::timer& armed, core::time_point deadline) noexcept final {
    core::time_point next;
    {
      std::lock_guard lock(lock_);
      wheel_.arm(armed, deadline);
      next = *wheel_.next();
      if (next >= wakes_at_) return;
      wakes_at_ = next;
    }
    wake_by(next);
  }

  bool disarm(core::timer& armed) noexcept final {
    {
      std::lock_guard lock(lock_);
      if (!wheel_.disarm(armed)) return false;
      if (emptied_ == emptied::kept || wheel_.next()) return true;
      wakes_at_ = core::time_point::max();
    }
    all_disarmed();
    return true;
  }

  /// Fires all expired timers. Returns when to call it next, if nothing is armed meanwhile; nullopt: never.
  std::optional<core::time_point> fire_expired() noexcept {
    const auto time = now();
    core::flat_loop::scope gather;  // callbacks without an executor run after all timers have fired
    for (;;) {
      core::timer* expired = nullptr;
      core::timer::fire_function fire = nullptr;
      {
        std::lock_guard lock(lock_);
        expired = wheel_.expire(time);
        if (expired == nullptr) {
          const auto next = wheel_.next();
          wakes_at_ = next.value_or(core::time_point::max());
          return next;
        }
        fire = expired->claim(*expired);
        if (fire == nullptr) continue;  // it lost: its owner may destroy it once lock_ is released
      }
      fire(*expired);
    }
  }

 protected:
  /// Whether the driver is notified when the last timer is disarmed; if not, it wakes once in vain.
  enum class emptied : bool { kept, told };

  explicit timer_service(core::time_point start, emptied when_empty = emptied::kept) noexcept
      : wheel_(start), emptied_(when_empty) {}
  ~timer_service() = default;

  /// Returns when to call fire_expired() next; nullopt: never.
  std::optional<core::time_point> next_deadline() noexcept {
    std::lock_guard lock(lock_);
    return wheel_.next();
  }

  /// Called without a lock by the thread that disarmed the last timer, if the driver asked for it. It may come late:
  /// a timer may have been armed since.
  virtual void all_disarmed() noexcept {}

  /// Called without a lock by the thread that armed. It may come late: fire_expired() may have been called since.
  virtual void wake_by(core::time_point next) noexcept = 0;

 private:
  core::spin_lock lock_;
  core::timer_wheel wheel_;
  const emptied emptied_;
  core::time_point wakes_at_ = core::time_point::max();  // when the driver will next call fire_expired()
};

/// A timer service with a thread of its own, which sleeps while nothing expires. Waiters without an executor resume on
/// it; if one blocks in weir, another thread takes over. If it blocks elsewhere, or takes long, all limits wait for it.
/// A template, as timers() is, so that only files that use a limit compile it: starting a thread adds 10 ms to them.
template <class Alarm>
class WEIR_SHARED basic_timer_thread final : public timer_service {
 public:
  /// Returns the one of the process, started by the first call. It is never destroyed: limits may be in use until the
  /// process ends. Throws std::system_error if no thread can be started; the next call tries again.
  WEIR_SHARED static basic_timer_thread& instance() {
    static auto* const service = new basic_timer_thread;
    return *service;
  }

  /// Reads the steady clock.
  core::time_point now() noexcept override { return std::chrono::steady_clock::now(); }

 private:
  basic_timer_thread() : timer_service(std::chrono::steady_clock::now()) { start(); }
  ~basic_timer_thread() = default;

  void start() {
    std::thread([this] { run(); }).detach();
  }

  void wake_by(core::time_point) noexcept override { alarm_.ring(); }

  void run() noexcept {
    auto& hook = core::before_park::current();
    hook.object = this;
    hook.call = [](void* object) noexcept {
      try {
        static_cast<basic_timer_thread*>(object)->start();
      } catch (...) {  // no thread is available: the limits wait until this waiter returns
        return;
      }
      core::before_park::current().call = nullptr;
    };
    for (;;) {
      const auto next = fire_expired();
      if (hook.call == nullptr) return;  // another thread has taken over
      alarm_.sleep_until(next.value_or(core::time_point::max()));
    }
  }

  Alarm alarm_;
};

/// The timer thread of the process.
using timer_thread = basic_timer_thread<core::alarm>;

/// A timer service that is driven by hand: its clock moves only in advance().
class manual_timers final : public timer_service {
 public:
  /// Sets the clock to `start`.
  explicit manual_timers(core::time_point start = std::chrono::steady_clock::now()) noexcept
      : timer_service(start), now_(start.time_since_epoch()) {}

  /// Returns `start` plus all that it was advanced by.
  core::time_point now() noexcept override {
    return core::time_point(now_.load(std::memory_order_acquire));  // acquire: pairs with advance
  }

  /// Moves the clock forward and fires what has expired: all that was due a wheel tick ago, perhaps more.
  void advance(core::duration by) noexcept {
    now_.store(now_.load(std::memory_order_relaxed) + by, std::memory_order_release);  // release: pairs with now
    fire_expired();
  }

 private:
  /// Fires at once if advance() has passed the deadline since the caller read the clock.
  void wake_by(core::time_point next) noexcept override {
    if (next <= now()) fire_expired();
  }

  platform::atomic<core::duration> now_;
};

namespace core {
WEIR_SHARED inline platform::atomic<timer_source*>& replaced_timers() noexcept {
  static constinit platform::atomic<timer_source*> replaced{nullptr};
  return replaced;
}

/// Keeps a library that uses the timer thread loaded for good: that thread runs the library's code when a limit passes,
/// and may still be returning from it when the wait has ended. Initialized when the library is loaded, not by a call:
/// the loader may have bound the call to the same function in another library.
template <class Default>
WEIR_PER_LIBRARY inline const bool stays_loaded = platform::keep_library_loaded();
}  // namespace core

/// Returns what measures the limits of waiters whose executor has no timers. Throws if it cannot be started.
template <class Default = timer_thread>
core::timer_source& timers() {
  static_cast<void>(&core::stays_loaded<Default>);                           // instantiates it
  auto* replaced = core::replaced_timers().load(std::memory_order_acquire);  // acquire: pairs with use_timers
  return replaced != nullptr ? *replaced : Default::instance();
}

/// Replaces what timers() returns while it lives: for tests, and for programs that drive time themselves.
class use_timers {
 public:
  /// Makes timers() return `source`, in all threads. Only one thread at a time may do so.
  explicit use_timers(core::timer_source& source) noexcept
      : before_(core::replaced_timers().exchange(&source, std::memory_order_acq_rel)) {}  // release: pairs with timers
  use_timers(const use_timers&) = delete;
  use_timers& operator=(const use_timers&) = delete;
  ~use_timers() { core::replaced_timers().store(before_, std::memory_order_release); }  // release: pairs with timers

 private:
  core::timer_source* before_;
};

}  // namespace weir
