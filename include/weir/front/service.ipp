// The service of an execution context: what is pending there and is destroyed with it, what is ready there and waits to
// be run, and the time limits that its timer measures.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <typeinfo>
#include <utility>

#include <weir/core/atomic.hpp>
#include <weir/core/executor.hpp>
#include <weir/core/frame.hpp>
#include <weir/core/ring.hpp>
#include <weir/core/shared.hpp>
#include <weir/core/spin_lock.hpp>
#include <weir/core/work.hpp>
#include <weir/run/timers.hpp>

namespace weir::front::inline WEIR_FRONT {

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

class service;

/// One resumption that is posted to the context: to Asio a handler of its own. Its memory, and Asio's for the handler,
/// is used again.
struct resumption {
  resumption* next = nullptr;
  resumption* prev = nullptr;
  work* item = nullptr;          // null: it was retracted
  core::tenant* wait = nullptr;  // that it belongs to; null: it is for whatever is posted
  service* from = nullptr;
  alignas(void*) std::byte memory[48];  // what Asio 1.22 to 1.38 allocates
};

/// Those that are made at once: to start a wait seldom allocates one.
struct resumption_batch {
  resumption_batch* next = nullptr;
  resumption all[16];
};

/// What Asio allocates a posted handler with: the memory of its resumption, if that is large enough.
template <class T>
class resumption_allocator {
 public:
  using value_type = T;

  explicit resumption_allocator(resumption& posted) noexcept : memory_(posted.memory) {}
  template <class U>
  resumption_allocator(const resumption_allocator<U>& other) noexcept : memory_(other.memory_) {}

  T* allocate(std::size_t count) {
    if (fits(count)) return reinterpret_cast<T*>(memory_);
    return std::allocator<T>().allocate(count);
  }
  void deallocate(T* allocated, std::size_t count) noexcept {
    if (!fits(count)) std::allocator<T>().deallocate(allocated, count);
  }

  template <class U>
  bool operator==(const resumption_allocator<U>& other) const noexcept {
    return memory_ == other.memory_;
  }

 private:
  template <class>
  friend class resumption_allocator;

  static bool fits(std::size_t count) noexcept {
    return alignof(T) <= alignof(void*) && count * sizeof(T) <= sizeof(resumption::memory);
  }

  std::byte* memory_;
};

class lodging;
class held_target;

/// An executor that many may run on. Its context has work to do while any of them is there.
struct shared_executor {
  explicit shared_executor(any_executor named) : where(std::move(named)) {}

  any_executor at_work;  // the service's. Goes last: without it the context may go, which a strand needs to go
  any_executor where;
  std::size_t tenants = 0;  // the service's
};

/// What a handler has thrown, to be thrown out of the context's run().
struct WEIR_SHARED thrown_here {
  std::exception_ptr* by_handler;
};

class service final : public net::execution_context::service {
 public:
  using key_type = service;
  WEIR_SHARED static inline net::execution_context::id id;

  /// The context destroys it, which may be after the library that needed it first would have been unloaded.
  explicit service(net::execution_context& owner) : net::execution_context::service(owner) {
    platform::keep_library_loaded();
  }

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
    if (!shut_) shutdown();  // it was made while the context was being destroyed
    core::unfinished_frame::end();
    // Not in shutdown(): the memory of what was posted and has not run is Asio's until the context has shut down.
    while (batches_ != nullptr) delete std::exchange(batches_, batches_->next);
  }

  /// The resumption of one wait, from its start to its end, and its place among what is pending. It is made at the
  /// start, so that what can fail is the start, and not the wake-up.
  resumption& open() {
    std::unique_ptr<resumption_batch> made;  // under no lock
    for (;;) {
      {
        const std::lock_guard lock(mutex_);
        if (made) add(made, closed_);
        if (resumption* const opened = closed_.pop_front()) {
          waits_.push_back(*opened);
          return *opened;
        }
      }
      made = std::make_unique<resumption_batch>();
    }
  }
  /// False: the context is being destroyed.
  bool enlist(resumption& opened, core::tenant& wait) noexcept {
    opened.wait = &wait;
    return !shut_;  // written by the destructor of the context, which nothing may race
  }
  void post(const any_executor& where, work& item, resumption& opened) noexcept {
    opened.item = &item;
    submit(where, opened);
  }
  void close(resumption& opened) noexcept {
    const std::lock_guard lock(mutex_);
    opened.wait = nullptr;
    waits_.remove(opened);
    closed_.push_front(opened);
  }

  /// The service of an executor on which a task will run: the memory of a resumption is there from now on, until the
  /// task leaves, for the same reason.
  static service& reserving(const any_executor& where) {
    service& found = of(where);
    std::unique_ptr<resumption_batch> made;  // under no lock
    while (!found.reserve(made)) made = std::make_unique<resumption_batch>();
    return found;
  }

  /// To the context each item is a handler of its own: parallel on several threads, one for each poll_one(), stopped by
  /// stop(), in order on a strand.
  void post(const any_executor& where, work& item) noexcept {
    resumption* posted = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (shut_) return;  // nothing runs any more: what is posted is evicted too
      posted = free_.pop_front();
      if (posted == nullptr) {  // of a child task, which shares the reservation of its parent
        std::unique_ptr<resumption_batch> made(new (std::nothrow) resumption_batch);
        if (!made) std::terminate();  // a wake-up cannot fail, and must not be lost
        resumptions_ += std::size(made->all);
        add(made, free_);
        posted = free_.pop_front();
      }
      posted->item = &item;
      posted_.push_back(*posted);
    }
    submit(where, *posted);
  }

  /// Takes back what was posted and has not run. Once the context goes nothing runs: that needs no search.
  bool retract(work& item) noexcept {
    const std::lock_guard lock(mutex_);
    if (shut_) return true;
    for (resumption* each = posted_.front(); each != nullptr; each = posted_.after(*each)) {
      if (each->item != &item) continue;
      each->item = nullptr;
      return true;
    }
    return false;
  }

  bool enlist(shared_executor& on, core::tenant& pending) noexcept {
    any_executor at_work;  // made under no lock, if it is the first; declared before it, if another was quicker
    for (;;) {
      {
        const std::lock_guard lock(mutex_);
        if (shut_) return false;
        if (on.tenants != 0 || at_work) {
          if (on.tenants++ == 0) std::swap(on.at_work, at_work);
          tenants_.push_back(pending);
          return true;
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

  /// The context is being destroyed: nothing runs there any more.
  [[nodiscard]] bool has_ended() noexcept {
    const std::lock_guard lock(mutex_);
    return shut_;
  }

  /// An executor of the context that somebody keeps, perhaps for longer than the context.
  bool keep(held_target& target) noexcept;  // false: the context is being destroyed
  void forget(held_target& target) noexcept;

  core::timer_source& timers(const any_executor& where) {
    const std::lock_guard lock(making_);
    if (!timers_) timers_.emplace(of_context(where));
    return *timers_;
  }

 private:
  struct WEIR_SHARED found_last {
    net::execution_context* context;
    service* found;
    std::uint64_t destroyed;
  };

  /// From here until this service is destroyed, the context destroys what is pending in any of its services.
  void shutdown() override {
    if (!shut_) core::unfinished_frame::begin();  // some contexts do it twice
    for (;;) {
      core::tenant* pending = nullptr;
      {
        const std::lock_guard lock(mutex_);
        shut_ = true;
        pending = first_pending();
      }
      if (pending == nullptr) break;
      pending->evict(*pending);
    }
    end_held_targets();  // now: the service of their strands may be destroyed before this one
    timers_.reset();
  }

  core::tenant* first_pending() const noexcept {
    if (core::tenant* const task = tenants_.front()) return task;
    for (const resumption* each = waits_.front(); each != nullptr; each = waits_.after(*each)) {
      if (each->wait != nullptr) return each->wait;  // else it has not begun, and never will
    }
    return nullptr;
  }

  /// False: one more resumption has to be made first.
  bool reserve(std::unique_ptr<resumption_batch>& made) noexcept {
    const std::lock_guard lock(mutex_);
    if (resumptions_ == reserved_) {
      if (!made) return false;
      resumptions_ += std::size(made->all);
      add(made, free_);
    }
    ++reserved_;
    return true;
  }

  /// Under the lock.
  void add(std::unique_ptr<resumption_batch>& made, core::ring<resumption>& to) noexcept {
    for (resumption& each : made->all) {
      each.from = this;
      to.push_back(each);
    }
    made->next = batches_;
    batches_ = made.release();
  }

  inline void end_held_targets() noexcept;

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

  /// For the executors of Asio's own contexts without an allocation, and without one more indirect call.
  void submit(const any_executor& where, resumption& posted) noexcept {
    const bool submitted = submit_to<net::io_context::executor_type>(where, posted) ||
                           submit_to<tracked<net::io_context::executor_type>>(where, posted) ||
                           submit_to<net::thread_pool::executor_type>(where, posted) ||
                           submit_to<tracked<net::thread_pool::executor_type>>(where, posted);
    if (!submitted) net::require(where, net::execution::blocking.never).execute(runs{&posted});
  }

  struct runs {
    using allocator_type = resumption_allocator<void>;
    [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_type(*posted); }
    void operator()() const { posted->from->run(*posted); }

    resumption* posted;
  };

  template <class E>
  using tracked = std::decay_t<decltype(net::require(std::declval<E>(), net::execution::outstanding_work.tracked))>;

  template <class E>
  bool submit_to(const any_executor& where, resumption& posted) {
    const E* const known = as<E>(where);
    if (known != nullptr) net::post(*known, runs{&posted});
    return known != nullptr;
  }

  /// By Asio, which uses its memory no more. What the item's handler has thrown is thrown out of the context's run().
  void run(resumption& posted) {
    work* const item = finish(posted);
    if (item == nullptr) return;
    const core::running_for nobody(0);  // not for a task inside which the context is run
    std::exception_ptr thrown;
    auto& here = platform::local<thrown_here>();
    auto* const outer = std::exchange(here.by_handler, &thrown);
    item->run();
    here.by_handler = outer;
    if (thrown) std::rethrow_exception(thrown);
  }

  work* finish(resumption& posted) noexcept {
    if (posted.wait != nullptr) return posted.item;
    const std::lock_guard lock(mutex_);
    posted_.remove(posted);
    free_.push_front(posted);
    return posted.item;
  }

  static constexpr int most_looked_at = 8;

  WEIR_SHARED static inline platform::atomic<std::uint64_t> services_destroyed{0};

  core::spin_lock mutex_;  // for a few instructions each time
  core::ring<core::tenant> tenants_;
  core::ring<lodging> lodgings_;  // the latest first
  core::ring<held_target> held_;
  resumption_batch* batches_ = nullptr;
  core::ring<resumption> waits_;   // opened
  core::ring<resumption> closed_;  // to be opened again
  core::ring<resumption> posted_;
  core::ring<resumption> free_;
  std::size_t resumptions_ = 0;  // posted and free
  std::size_t reserved_ = 0;     // at most as many
  bool shut_ = false;
  std::mutex making_;  // of what follows
  std::optional<context_timers> timers_;
};

}  // namespace weir::front::inline WEIR_FRONT
