// What can be said of any wait, in any order, each once: within, until, stop_on, as_result, resume_on.

#include <chrono>
#include <stop_token>
#include <thread>

#include <weir/weir.hpp>

using namespace std::chrono_literals;

namespace {

// [limits]
weir::task<bool> limits(weir::event& never, weir::semaphore& free, std::stop_source stop, weir::thread_pool& other) {
  // A limited wait returns a result: success, or the reason of the failure.
  auto late = co_await never.wait().within(5ms);
  bool right = late.error() == weir::errc::timed_out;

  // A limit of zero never waits.
  auto now = co_await free.acquire().within(0ms);
  right = right && now.has_value();

  // The limit that is reached first decides.
  stop.request_stop();
  auto stopped = co_await never.wait().within(1h).stop_on(stop.get_token());
  right = right && stopped.error() == weir::errc::cancelled;

  // Without a limit a failure is thrown; as_result() reports it instead.
  never.close();
  auto closed = co_await never.wait().as_result();
  right = right && closed.error() == weir::errc::closed;

  // For this one wait the task resumes elsewhere, even if there was nothing to wait for ...
  const auto home = std::this_thread::get_id();
  co_await free.acquire().resume_on(other);
  right = right && std::this_thread::get_id() != home;

  // ... and after its next wait it is back on its own executor.
  co_await weir::yield();
  co_return right&& std::this_thread::get_id() == home;
}
// [limits]

}  // namespace

int main() {
  weir::thread_pool other(1);
  weir::event never;
  weir::semaphore free(2);
  return weir::sync_wait(limits(never, free, std::stop_source(), other)) ? 0 : 1;
}
