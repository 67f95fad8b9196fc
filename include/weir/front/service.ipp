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

/// The executor of the context itself, where `where` is known to be one of its strands.
inline any_executor without_strand(const any_executor& where) {
  if (const auto* strand = as<net::strand<net::io_context::executor_type>>(where)) return strand->get_inner_executor();
  if (const auto* strand = as<net::strand<net::thread_pool::executor_type>>(where)) return strand->get_inner_executor();
  if (const auto* strand = as<net::strand<any_executor>>(where)) return strand->get_inner_executor();
  return where;
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

struct train;

/// What is ready on one executor of Asio's: a list that is run by one post, with whatever else is ready there by then.
/// Every member is the service's.
class ready_list {
 public:
  explicit ready_list(any_executor where) noexcept : where_(std::move(where)) {}
  ready_list(const ready_list& other) noexcept : where_(other.where_) {}
  ready_list& operator=(const ready_list&) = delete;
  ~ready_list() = default;

  [[nodiscard]] const any_executor& where() const noexcept { return where_; }

  ready_list* next = nullptr;
  ready_list* prev = nullptr;

 private:
  friend class service;
  any_executor where_;
  work_list ready_;
  train* boarded_ = nullptr;  // while it is linked, which is while something is ready
  std::size_t tenants_ = 0;
  any_executor at_work_;  // while it has tenants, its context has work to do
};

/// What one post runs.
struct train {
  train* next = nullptr;
  any_executor where;
  core::ring<ready_list> boarding;  // until it leaves
  work_list leaving;                // what is left to run, once it has
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
    while (free_ != nullptr) delete std::exchange(free_, free_->next);
    while (open_ != nullptr) delete std::exchange(open_, open_->next);
  }

  /// The first to be ready on an executor posts; who is ready there before that has run goes along.
  void post(ready_list& on, work& item) noexcept {
    train* opened = nullptr;
    {
      const std::lock_guard lock(mutex_);
      on.ready_.push_back(item);
      if (core::ring<ready_list>::linked(on)) return;
      train* joined = open_on(on.where_);
      if (joined == nullptr) joined = opened = open(on.where_);
      joined->boarding.push_back(on);
      on.boarded_ = joined;
    }
    if (opened != nullptr) dispatch(*opened);
  }

  /// Takes back what was posted and has not run.
  bool retract(ready_list& from, work& item) noexcept {
    const std::lock_guard lock(mutex_);
    if (!from.ready_.remove(item)) return has_left_with(running_, item) || has_left_with(open_, item);
    if (from.ready_.empty()) from.boarded_->boarding.remove(from);  // its owner may go now
    return true;
  }

  void enlist(ready_list& on, core::tenant& pending) noexcept {
    any_executor at_work;  // made under no lock, if it is the first; declared before it, if another was quicker
    for (;;) {
      {
        const std::lock_guard lock(mutex_);
        if (on.tenants_ != 0 || at_work) {
          if (on.tenants_++ == 0) std::swap(on.at_work_, at_work);
          tenants_.push_back(pending);
          return;
        }
      }
      at_work = net::prefer(on.where_, net::execution::outstanding_work.tracked);
    }
  }
  void delist(ready_list& on, core::tenant& pending) noexcept {
    any_executor done;  // declared before the lock: the context may find that it has nothing to do
    const std::lock_guard lock(mutex_);
    tenants_.remove(pending);
    if (--on.tenants_ == 0) std::swap(done, on.at_work_);
  }

  core::timer_source& timers(const any_executor& where) {
    const std::lock_guard lock(making_);
    if (!timers_) timers_.emplace(without_strand(where));
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
        pending = tenants_.front();
      }
      if (pending == nullptr) break;
      pending->evict(*pending);
    }
    timers_.reset();
  }

  train* open_on(const any_executor& where) noexcept {
    int looked_at = 0;
    for (train* each = open_; each != nullptr && looked_at < most_looked_at; each = each->next, ++looked_at) {
      if (each->where == where) return each;
    }
    return nullptr;
  }

  train* open(const any_executor& where) noexcept {
    train* opened = free_ != nullptr ? std::exchange(free_, free_->next) : new (std::nothrow) train;
    if (opened == nullptr) std::terminate();  // a wake-up cannot fail, and must not be lost
    opened->where = where;
    opened->next = std::exchange(open_, opened);
    return opened;
  }

  void dispatch(train& opened) noexcept {
    net::post(opened.where, [this, &opened] { run(opened); });
  }

  static bool has_left_with(train* list, work& item) noexcept {
    for (; list != nullptr; list = list->next) {
      if (list->leaving.remove(item)) return true;
    }
    return false;
  }

  static void unlink(train*& list, train& gone) noexcept {
    for (train** at = &list; *at != nullptr; at = &(*at)->next) {
      if (*at != &gone) continue;
      *at = gone.next;
      return;
    }
  }

  void run(train& left) {
    {
      const std::lock_guard lock(mutex_);
      unlink(open_, left);
      left.next = std::exchange(running_, &left);
      while (ready_list* each = left.boarding.pop_front()) left.leaving.append(each->ready_);
    }
    std::exception_ptr thrown;
    auto& here = platform::local<thrown_here>();
    auto* const outer = std::exchange(here.by_handler, &thrown);
    while (work* item = next_of(left)) {
      item->run();
      if (thrown) break;
    }
    here.by_handler = outer;
    if (!thrown) return;
    run_later(left);
    std::rethrow_exception(thrown);
  }

  /// What is left of one whose handler has thrown.
  void run_later(train& interrupted) noexcept {
    {
      const std::lock_guard lock(mutex_);
      unlink(running_, interrupted);
      interrupted.next = std::exchange(open_, &interrupted);
    }
    dispatch(interrupted);
  }

  /// Null: there is none, and it is put away.
  work* next_of(train& left) noexcept {
    const std::lock_guard lock(mutex_);
    work* item = left.leaving.pop_front();
    if (item == nullptr) {
      unlink(running_, left);
      left.where = {};
      left.next = std::exchange(free_, &left);
    }
    return item;
  }

  static constexpr int most_looked_at = 8;

  static inline platform::atomic<std::uint64_t> services_destroyed{0};

  core::spin_lock mutex_;  // for a few instructions each time
  core::ring<core::tenant> tenants_;
  train* open_ = nullptr;     // posted, not running
  train* running_ = nullptr;  // each on a thread of its own
  train* free_ = nullptr;
  std::mutex making_;  // of what follows
  std::optional<context_timers> timers_;
};

}  // namespace weir::front
