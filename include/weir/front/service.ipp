// The service of an execution context: what is pending there and is destroyed with it, what is ready there and waits to
// be run, and the time limits that its timer measures.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <typeinfo>
#include <utility>

#include <weir/core/atomic.hpp>
#include <weir/core/executor.hpp>
#include <weir/core/ring.hpp>
#include <weir/core/spin_lock.hpp>
#include <weir/core/work.hpp>
#include <weir/run/timers.hpp>

namespace weir::front {

using any_executor = net::any_io_executor;

/// Null: it is of another type. Asio 1.22's own target<E>() does not ask.
template <class E>
const E* as(const any_executor& where) noexcept {
  return where.target_type() == typeid(E) ? where.template target<E>() : nullptr;
}

/// The executor of the context itself, where `where` is known to be one of its strands. It counts as no work there.
inline any_executor of_context(const any_executor& where) {
  any_executor idle = net::prefer(where, net::execution::outstanding_work.untracked);
  if (const auto* strand = as<net::strand<net::io_context::executor_type>>(idle)) return strand->get_inner_executor();
  if (const auto* strand = as<net::strand<net::thread_pool::executor_type>>(idle)) return strand->get_inner_executor();
  if (const auto* strand = as<net::strand<any_executor>>(idle)) return strand->get_inner_executor();
  return idle;
}

/// Time limits, measured by one timer of the context. It runs only while a limit is armed, so that it never keeps the
/// context at work by itself.
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
      return;  // it wakes too early, and looks again
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

/// What one post runs.
struct train {
  [[nodiscard]] const any_executor& where() const noexcept { return goes_to; }

  train* next = nullptr;
  train* prev = nullptr;
  any_executor goes_to;
  work_list aboard;  // more may board until it has left
};

class lodging;

/// An executor that many may run on. Its context has work to do while any of them is there.
struct shared_executor {
  explicit shared_executor(any_executor named) : where(std::move(named)) {}

  any_executor at_work;  // the service's. Goes last: without it the context may go, which a strand needs to go
  any_executor where;
  std::size_t tenants = 0;  // the service's
};

/// What a handler has thrown, to be thrown out of the context's run().
struct thrown_here {
  std::exception_ptr* by_handler;
};

class service final : public net::execution_context::service {
 public:
  using key_type = service;
  static inline net::execution_context::id id;

  explicit service(net::execution_context& owner) : net::execution_context::service(owner) {}

  /// Asio looks it up in a list, under a mutex; each thread remembers the one that it has found last.
  static service& of(const any_executor& where) {
    auto& context = net::query(where, net::execution::context);
    auto& last = platform::local<found_last>();
    // acquire: pairs with the count in the destructor. One that is destroyed meanwhile is used by nobody.
    const std::uint64_t destroyed = services_destroyed.load(std::memory_order_acquire);
    if (last.context != &context || last.destroyed != destroyed) {
      last = {&context, &net::use_service<service>(context), destroyed};
    }
    return *last.found;
  }

  ~service() override {
    // release: pairs with of(), which must not take a new service at this address for this one
    services_destroyed.fetch_add(1, std::memory_order_release);
    while (const train* each = free_.pop_front()) delete each;
  }

  /// The first to be ready on an executor posts; who is ready there before that has run goes along.
  void post(const any_executor& where, work& item) noexcept {
    train* opened = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (shut_) return;  // nothing runs any more: who is posted is evicted too
      train* joined = one_on(where, open_);
      if (joined == nullptr) joined = opened = open(where);
      joined->aboard.push_back(item);
    }
    if (opened != nullptr) dispatch(*opened);
  }

  /// Takes back what was posted and has not run. Once the context goes nothing runs: that needs no search.
  bool retract(work& item) noexcept {
    const std::lock_guard lock(mutex_);
    return shut_ || is_aboard(running_, item) || is_aboard(open_, item);
  }

  /// Of one that keeps its context at work by itself.
  void enlist(core::tenant& pending) noexcept {
    const std::lock_guard lock(mutex_);
    tenants_.push_back(pending);
  }
  void delist(core::tenant& pending) noexcept {
    const std::lock_guard lock(mutex_);
    tenants_.remove(pending);
  }

  void enlist(shared_executor& on, core::tenant& pending) noexcept {
    any_executor at_work;  // made under no lock, if it is the first; declared before it, if another was quicker
    for (;;) {
      {
        const std::lock_guard lock(mutex_);
        if (on.tenants != 0 || at_work) {
          if (on.tenants++ == 0) std::swap(on.at_work, at_work);
          tenants_.push_back(pending);
          return;
        }
      }
      at_work = net::prefer(on.where, net::execution::outstanding_work.tracked);
    }
  }
  void delist(shared_executor& on, core::tenant& pending) noexcept {
    any_executor done;  // declared before the lock: the context may find that it has nothing to do
    const std::lock_guard lock(mutex_);
    tenants_.remove(pending);
    if (--on.tenants == 0) std::swap(done, on.at_work);
  }

  /// Of one that shares its executor with whoever else is there.
  lodging& lodge(const any_executor& where, core::tenant& guest);
  void leave(lodging& host, core::tenant& guest) noexcept;

  core::timer_source& timers(const any_executor& where) {
    const std::lock_guard lock(making_);
    if (!timers_) timers_.emplace(of_context(where));
    return *timers_;
  }

 private:
  struct found_last {
    net::execution_context* context;
    service* found;
    std::uint64_t destroyed;
  };

  void shutdown() override {
    for (;;) {
      core::tenant* pending = nullptr;
      {
        const std::lock_guard lock(mutex_);
        shut_ = true;
        pending = tenants_.front();
      }
      if (pending == nullptr) break;
      pending->evict(*pending);
    }
    while (const train* each = open_.pop_front()) delete each;  // now: their strands' service may go before this one
    timers_.reset();
  }

  /// One of the latest.
  template <class T>
  static T* one_on(const any_executor& where, const core::ring<T>& any) noexcept {
    int looked_at = 0;
    for (T* each = any.front(); each != nullptr && looked_at < most_looked_at; each = any.after(*each)) {
      if (each->where() == where) return each;
      ++looked_at;
    }
    return nullptr;
  }

  train* open(const any_executor& where) noexcept {
    train* opened = free_.empty() ? new (std::nothrow) train : free_.pop_front();
    if (opened == nullptr) std::terminate();  // a wake-up cannot fail, and must not be lost
    opened->goes_to = where;
    open_.push_front(*opened);
    return opened;
  }

  void dispatch(train& opened) noexcept {
    net::require(opened.where(), net::execution::blocking.never).execute([this, &opened] { run(opened); });
  }

  static bool is_aboard(const core::ring<train>& any, work& item) noexcept {
    for (train* each = any.front(); each != nullptr; each = any.after(*each)) {
      if (each->aboard.remove(item)) return true;
    }
    return false;
  }

  void run(train& left) {
    any_executor done;  // the train's, once it has come to its last. It goes under no lock: it may be the context's end
    std::exception_ptr thrown;
    auto& here = platform::local<thrown_here>();
    auto* const outer = std::exchange(here.by_handler, &thrown);
    for (work* item = leave(left, done); item != nullptr; item = next_of(left, done)) {
      item->run();
      if (done || thrown) break;
    }
    here.by_handler = outer;
    if (!thrown) return;
    if (!done) run_later(left);
    std::rethrow_exception(thrown);
  }

  /// What is left of one whose handler has thrown.
  void run_later(train& interrupted) noexcept {
    {
      const std::lock_guard lock(mutex_);
      running_.remove(interrupted);
      open_.push_front(interrupted);
    }
    dispatch(interrupted);
  }

  /// Nobody boards any more.
  work* leave(train& left, any_executor& done) noexcept {
    const std::lock_guard lock(mutex_);
    open_.remove(left);
    running_.push_front(left);
    return take_from(left, done);
  }

  work* next_of(train& left, any_executor& done) noexcept {
    const std::lock_guard lock(mutex_);
    return take_from(left, done);
  }

  /// Under the lock. With the last the train is put away.
  work* take_from(train& left, any_executor& done) noexcept {
    work* item = left.aboard.pop_front();
    if (left.aboard.empty()) {
      running_.remove(left);
      free_.push_front(left);
      done = std::move(left.goes_to);
    }
    return item;
  }

  static constexpr int most_looked_at = 8;

  static inline platform::atomic<std::uint64_t> services_destroyed{0};

  core::spin_lock mutex_;  // for a few instructions each time
  core::ring<core::tenant> tenants_;
  core::ring<lodging> lodgings_;  // the latest first
  core::ring<train> open_;        // posted, not running; the latest first
  core::ring<train> running_;     // each on a thread of its own
  core::ring<train> free_;
  bool shut_ = false;
  std::mutex making_;  // of what follows
  std::optional<context_timers> timers_;
};

}  // namespace weir::front
