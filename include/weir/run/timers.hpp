#pragma once

// The timer service: one wheel, one lock, and whatever moves its clock. timer_service knows nothing of what
// drives it: a thread that is started by the first limit (timer_thread), a test by hand (manual_timers), an
// io_context.

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

/// The driver calls fire_expired() when its time has come, and is told by wake_by() when that is sooner
/// than it knew.
class timer_service : public core::timer_source {
 public:
  /// By a wait that begins; disarm() by one that ends: false, if it has fired or is about to.
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

  /// Fires all that has expired by now. When to call it next, if nothing is armed meanwhile; nothing: never.
  std::optional<core::time_point> fire_expired() noexcept {
    const auto time = now();
    core::flat_loop::scope gather;  // everybody is told before anybody's code runs
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
        if (fire == nullptr) continue;  // it lost: its owner may go on, and away, as soon as we unlock
      }
      fire(*expired);
    }
  }

 protected:
  /// Whether the driver wants to know that nothing is armed any more; else it comes once in vain.
  enum class emptied : bool { kept, told };

  explicit timer_service(core::time_point start, emptied when_empty = emptied::kept) noexcept
      : wheel_(start), emptied_(when_empty) {}
  ~timer_service() = default;

  /// When fire_expired() is to be called next; nothing: never.
  std::optional<core::time_point> next_deadline() noexcept {
    std::lock_guard lock(lock_);
    return wheel_.next();
  }

  /// Called under no lock by whoever disarms the last, if the driver wants to know. It may come late.
  virtual void all_disarmed() noexcept {}

  /// Called under no lock, by whoever arms. It may come late: fire_expired() may have been called since.
  virtual void wake_by(core::time_point next) noexcept = 0;

 private:
  core::spin_lock lock_;
  core::timer_wheel wheel_;
  const emptied emptied_;
  core::time_point wakes_at_ = core::time_point::max();  // when the driver will come by itself
};

/// Driven by a thread of its own, which sleeps while nothing expires. The code of waiters that have no executor runs on
/// it; if that blocks in weir, another thread takes over. If it blocks elsewhere, or takes long, all limits wait for
/// it. A template, as timers() is, so that only files that use a limit compile it: to start a thread takes 10 ms there.
template <class Alarm>
class WEIR_SHARED basic_timer_thread final : public timer_service {
 public:
  /// One for the process, started when first asked for. It is never destroyed: limits may be in use until
  /// the very end. Throws std::system_error if no thread can be started; the next call tries again.
  WEIR_SHARED static basic_timer_thread& instance() {
    static auto* const service = new basic_timer_thread;
    return *service;
  }

  /// The steady clock.
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
      } catch (...) {  // no thread is available: the limits wait until this code returns
        return;
      }
      core::before_park::current().call = nullptr;
    };
    for (;;) {
      const auto next = fire_expired();
      if (hook.call == nullptr) return;  // another one has taken over
      alarm_.sleep_until(next.value_or(core::time_point::max()));
    }
  }

  Alarm alarm_;
};

/// The one that there is.
using timer_thread = basic_timer_thread<core::alarm>;

/// Driven by hand: time stands still until it is moved.
class manual_timers final : public timer_service {
 public:
  /// Time stands still there until it is moved.
  explicit manual_timers(core::time_point start = std::chrono::steady_clock::now()) noexcept
      : timer_service(start), now_(start.time_since_epoch()) {}

  /// As far as it was moved.
  core::time_point now() noexcept override {
    return core::time_point(now_.load(std::memory_order_acquire));  // acquire: pairs with advance
  }

  /// Moves the clock on and fires what has expired: all that was due a tick of the wheel ago, perhaps more.
  void advance(core::duration by) noexcept {
    now_.store(now_.load(std::memory_order_relaxed) + by, std::memory_order_release);  // release: pairs with now
    fire_expired();
  }

 private:
  /// A deadline that has passed already, because time was moved between its reading and its arming, is due at once.
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

/// A library with a use of the timer thread in it is never unloaded: that thread runs the library's code when a limit
/// passes, and may still be returning from there when the wait has ended. Initialized when the library is loaded,
/// because a call is no sign of who waits: the loader may have bound it to the same function in another library.
template <class Default>
WEIR_PER_LIBRARY inline const bool stays_loaded = platform::keep_library_loaded();
}  // namespace core

/// What measures the limits of waiters whose executor has no timers of its own. Throws if that cannot be started.
template <class Default = timer_thread>
core::timer_source& timers() {
  static_cast<void>(&core::stays_loaded<Default>);                           // so that it exists
  auto* replaced = core::replaced_timers().load(std::memory_order_acquire);  // acquire: pairs with use_timers
  return replaced != nullptr ? *replaced : Default::instance();
}

/// While it lives, timers() is another source: for tests, and for programs that drive time themselves.
class use_timers {
 public:
  /// From here on, in this scope, all new limits are its. One thread at a time may say so.
  explicit use_timers(core::timer_source& source) noexcept
      : before_(core::replaced_timers().exchange(&source, std::memory_order_acq_rel)) {}  // release: pairs with timers
  use_timers(const use_timers&) = delete;
  use_timers& operator=(const use_timers&) = delete;
  ~use_timers() { core::replaced_timers().store(before_, std::memory_order_release); }

 private:
  core::timer_source* before_;
};

}  // namespace weir
