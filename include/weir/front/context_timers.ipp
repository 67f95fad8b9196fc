// The executors of a context, and the time limits that its own timer measures.

#include <chrono>
#include <mutex>
#include <typeinfo>

#include <weir/core/timer.hpp>
#include <weir/run/timers.hpp>

namespace weir::front::inline WEIR_FRONT {

using any_executor = net::any_io_executor;

/// Returns null if the executor is of another type. Asio 1.22's own target<E>() does not check.
template <class E>
const E* as(const any_executor& where) noexcept {
  return where.target_type() == typeid(E) ? where.template target<E>() : nullptr;
}

/// Returns the context's own executor if `where` is a strand of a known type, else `where`; without outstanding work.
inline any_executor of_context(const any_executor& where) {
  any_executor idle = net::prefer(where, net::execution::outstanding_work.untracked);
  if (const auto* strand = as<net::strand<net::io_context::executor_type>>(idle)) return strand->get_inner_executor();
  if (const auto* strand = as<net::strand<net::thread_pool::executor_type>>(idle)) return strand->get_inner_executor();
  if (const auto* strand = as<net::strand<any_executor>>(idle)) return strand->get_inner_executor();
  return idle;
}

/// Measures time limits with one timer of the context. It runs only while a limit is armed, so that by itself it
/// never keeps the context running.
class context_timers final : public timer_service {
 public:
  explicit context_timers(const any_executor& where)
      : timer_service(std::chrono::steady_clock::now(), emptied::told), timer_(where) {}

  core::time_point now() noexcept override { return std::chrono::steady_clock::now(); }

 private:
  void wake_by(core::time_point) noexcept override { plan(); }
  void all_disarmed() noexcept override { plan(); }

  void plan() noexcept {
    const std::lock_guard lock(planning_);
    const auto next = next_deadline().value_or(core::time_point::max());
    if (next == planned_) return;
    if (next == core::time_point::max()) {
      timer_.cancel();
    } else if (next < planned_) {
      timer_.expires_at(next);
      timer_.async_wait([this](const net::net_error& error) {
        if (!error) fire();
      });
    } else {
      return;  // the timer expires too early, and plans again
    }
    planned_ = next;
  }

  void fire() noexcept {
    {
      const std::lock_guard lock(planning_);
      planned_ = core::time_point::max();
    }
    fire_expired();
    plan();
  }

  std::mutex planning_;
  core::time_point planned_ = core::time_point::max();
  net::steady_timer timer_;
};

}  // namespace weir::front::inline WEIR_FRONT
