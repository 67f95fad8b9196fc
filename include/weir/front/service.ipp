// The service of an execution context: it lists the waits and tasks that are destroyed with the context, posts their
// resumptions, and measures their time limits with a timer of the context.
//
// A tenant is a wait or task attached to the context; the context's destructor evicts (destroys) it. A lodging is a
// target that tasks spawned on one executor share. A resumption is the record of one posted wake-up.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
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

class lodging;
class held_target;

/// An executor that several tenants share. Its context has outstanding work while there is one.
struct shared_executor {
  explicit shared_executor(any_executor named) : where(std::move(named)) {}

  // Guarded by service::mutex_, as is `tenants`. Declared first, so that it is destroyed last: without outstanding work
  // the context may be destroyed, which `where` needs in its destructor if it is a strand.
  any_executor at_work;
  any_executor where;
  std::size_t tenants = 0;
};

/// The exception of a handler, to be rethrown out of the context's run(). Null: not in service::run().
struct WEIR_SHARED thrown_here {
  std::exception_ptr* by_handler;
};

class service final : public net::execution_context::service {
 public:
  using key_type = service;
  WEIR_SHARED static inline net::execution_context::id id;

  /// Keeps this library loaded: the context destroys the service, perhaps after the library would be unloaded.
  explicit service(net::execution_context& owner) : net::execution_context::service(owner) {
    platform::keep_library_loaded();
  }

  /// Returns the service of a context. Asio searches a list under a mutex, so each thread caches the last one found.
  static service& of(const any_executor& where) {
    auto& context = net::query(where, net::execution::context);
    auto& last = platform::local<found_last>();
    // acquire: pairs with the count in the destructor. A service that is destroyed meanwhile is not in use.
    const std::uint64_t destroyed = services_destroyed.load(std::memory_order_acquire);
    if (last.context != &context || last.destroyed != destroyed) {
      last = {&context, &net::use_service<service>(context), destroyed};
    }
    return *last.found;
  }

  ~service() override {
    // release: pairs with of(), which must not return this service for a new context at the same address
    services_destroyed.fetch_add(1, std::memory_order_release);
    if (!shut_) shutdown();  // created while the context was being destroyed
    core::unfinished_frame::end();
    // Not in shutdown(): handlers that were posted and have not run use this memory until the context has shut down.
    while (batches_ != nullptr) delete std::exchange(batches_, batches_->next);
  }

  /// Opens the resumption of one wait, which also lists the wait as pending from its start to its end. It is allocated
  /// at the start, so that the start can fail, but not the wake-up.
  resumption& open() {
    std::unique_ptr<resumption_batch> made;  // allocated without the lock
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
  /// Returns false if the context is being destroyed.
  bool enlist(resumption& opened, core::tenant& wait) noexcept {
    opened.wait = &wait;
    return !shut_;  // written by the context's destructor, which no call may race
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

  /// Returns the service of an executor on which a task will run, with a resumption reserved for it until the task
  /// leaves: its wake-up cannot fail either.
  static service& reserving(const any_executor& where) {
    service& found = of(where);
    std::unique_ptr<resumption_batch> made;  // allocated without the lock
    while (!found.reserve(made)) made = std::make_unique<resumption_batch>();
    return found;
  }

  /// Posts each item as an Asio handler of its own: in parallel on several threads, one per poll_one(), held back by
  /// stop(), in order on a strand.
  void post(const any_executor& where, work& item) noexcept {
    resumption* posted = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (shut_) return;  // nothing runs any more: the item's owner is evicted too
      posted = free_.pop_front();
      if (posted == nullptr) {  // only spawned tasks reserve one: child tasks, pool jobs, resume_on do not
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

  /// Takes back posted work that has not run. While the context is destroyed nothing runs, so no search is needed.
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
    // Created without the lock, for the first tenant. If another tenant was faster, it is destroyed after unlocking.
    any_executor at_work;
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
    any_executor done;  // destroyed after unlocking: the context may run out of work
    const std::lock_guard lock(mutex_);
    tenants_.remove(pending);
    if (--on.tenants == 0) std::swap(done, on.at_work);
  }

  /// Attaches a tenant to the lodging of its executor; leave() detaches it.
  lodging& lodge(const any_executor& where, core::tenant& guest);
  void leave(lodging& host, core::tenant& guest) noexcept;

  /// True if the context is being destroyed: nothing runs there any more.
  [[nodiscard]] bool has_ended() noexcept {
    const std::lock_guard lock(mutex_);
    return shut_;
  }

  /// Lists a target that a pool holds, perhaps for longer than the context lives; forget() removes it. Returns false if
  /// the context is being destroyed.
  bool keep(held_target& target) noexcept;
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

  /// The context destroys what is pending in its services from here until this service is destroyed.
  void shutdown() override {
    if (!shut_) core::unfinished_frame::begin();  // some contexts shut down twice
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
    end_held_targets();  // here: the service of their strands may be destroyed before this one
    timers_.reset();
  }

  core::tenant* first_pending() const noexcept {
    if (core::tenant* const task = tenants_.front()) return task;
    for (const resumption* each = waits_.front(); each != nullptr; each = waits_.after(*each)) {
      if (each->wait != nullptr) return each->wait;  // else the wait has not started, and never will
    }
    return nullptr;
  }

  /// Returns false if a batch has to be allocated first.
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

  /// Called under mutex_.
  void add(std::unique_ptr<resumption_batch>& made, core::ring<resumption>& to) noexcept {
    for (resumption& each : made->all) {
      each.from = this;
      to.push_back(each);
    }
    made->next = batches_;
    batches_ = made.release();
  }

  inline void end_held_targets() noexcept;

  /// Returns one with this executor among the first few, or null.
  template <class T>
  static T* one_on(const any_executor& where, const core::ring<T>& any) noexcept {
    int looked_at = 0;
    for (T* each = any.front(); each != nullptr && looked_at < most_looked_at; each = any.after(*each)) {
      if (each->where() == where) return each;
      ++looked_at;
    }
    return nullptr;
  }

  /// Posts a resumption: to Asio's own contexts without an allocation, and without one more indirect call.
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

  /// Called by Asio, which no longer uses posted.memory. Rethrows a handler's exception out of the context's run().
  void run(resumption& posted) {
    work* const item = finish(posted);
    if (item == nullptr) return;
    const core::running_for nobody(0);  // a task that calls the context's run() does not own this
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

  core::spin_lock mutex_;  // held for a few instructions at a time
  core::ring<core::tenant> tenants_;
  core::ring<lodging> lodgings_;  // latest first
  core::ring<held_target> held_;
  resumption_batch* batches_ = nullptr;
  core::ring<resumption> waits_;   // opened by a wait
  core::ring<resumption> closed_;  // ready to be opened
  core::ring<resumption> posted_;
  core::ring<resumption> free_;
  std::size_t resumptions_ = 0;  // the number in posted_ and free_
  std::size_t reserved_ = 0;     // at most resumptions_
  bool shut_ = false;
  std::mutex making_;  // guards timers_
  std::optional<context_timers> timers_;
};

}  // namespace weir::front::inline WEIR_FRONT
