#pragma once

// Two executors that a test drives, and awaitables that leave a task on one of them or on a thread.

#include <coroutine>
#include <cstddef>
#include <string>
#include <string_view>
#include <thread>

#include <weir/core/work.hpp>
#include <weir/event.hpp>
#include <weir/run/task.hpp>

#include <support/manual_executor.hpp>

namespace weir::test {

/// Two executors that the test drives. Code notes the name of the one that runs it.
class stage {
 public:
  /// Runs both until neither has anything left. How many resumptions that took.
  std::size_t run() {
    std::size_t ran = 0;
    while (!home.empty() || !other.empty()) {
      at_ = "home ";
      ran += home.run_all();
      at_ = "other ";
      ran += other.run_all();
    }
    at_ = "neither ";
    return ran;
  }

  void note() { note(seen); }
  void note(std::string& into) const { into += at_; }

  manual_executor home;
  manual_executor other;
  std::string seen;

 private:
  std::string_view at_ = "neither ";
};

/// An awaitable of another library, which resumes on an executor and knows nothing of tasks.
class moves_to : private work {
 public:
  explicit moves_to(manual_executor& where) noexcept
      : work([](work& posted) noexcept { static_cast<moves_to&>(posted).owner_.resume(); }), where_(where) {}

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> owner) noexcept {
    owner_ = owner;
    where_.post(*this);
  }
  void await_resume() const noexcept {}

 private:
  manual_executor& where_;
  std::coroutine_handle<> owner_;
};

/// The same, on a thread of its own that has ended before await_suspend returns: what it resumes is over by then, or
/// suspended again.
struct moves_to_a_thread {
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> owner) const {
    std::thread([owner] { owner.resume(); }).join();
  }
  void await_resume() const noexcept {}
};

inline task<> does_nothing() { co_return; }

/// Waits, and notes where it resumes.
inline task<> stays(stage& places, event& opened) {
  co_await opened.wait();
  places.note();
}

}  // namespace weir::test
