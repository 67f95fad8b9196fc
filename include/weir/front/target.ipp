// target: a weir executor that holds a copy of an Asio executor. What runs on it is destroyed with its context.

#include <concepts>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#include <weir/core/front.hpp>
#include <weir/core/shared.hpp>
#include <weir/wait/operation.hpp>

namespace weir {

/// An Asio executor: io.get_executor(), a strand, any_io_executor, …
template <class E>
concept asio_executor =
    !executor<E> && net::execution::is_executor<E>::value && std::constructible_from<front::any_executor, E>;

/// An Asio execution context: an io_context, a thread_pool, … What runs on it runs on its get_executor().
template <class C>
concept asio_context = std::convertible_to<C&, net::execution_context&> && requires(C& context) {
  { context.get_executor() } -> asio_executor;
};

namespace core {

template <asio_context C>
auto as_executor(front_tag, C& context) noexcept {
  return context.get_executor();
}

}  // namespace core

namespace front::inline WEIR_FRONT {

class WEIR_SHARED target {
 public:
  explicit target(any_executor where) : on_(std::move(where)), service_(&service::of(on_.where)) {}
  target(const target& other) noexcept : on_(other.where()), service_(other.service_) {}
  target& operator=(const target&) = delete;
  ~target() = default;

  void post(work& item) noexcept {
    if (service_ != nullptr) service_->post(where(), item);
  }
  bool retract(work& item) noexcept { return service_ == nullptr || service_->retract(item); }
  core::timer_source& timers() noexcept { return service_->timers(where()); }
  bool enlist(core::tenant& running) noexcept { return service_ != nullptr && service_->enlist(on_, running); }
  void delist(core::tenant& running) noexcept { service_->delist(on_, running); }

  [[nodiscard]] const any_executor& where() const noexcept { return on_.where; }

  /// Called when the context is destroyed or no longer needed: the target then runs nothing, and may outlive it.
  void end() noexcept {
    on_.where = any_executor();
    service_ = nullptr;
  }

 protected:
  shared_executor on_;
  service* service_;  // null after end()
};

/// The target of a pool, which may outlive its context.
class held_target final : public target {
 public:
  explicit held_target(const any_executor& where) : target(where) {
    if (!service_->keep(*this)) end();
  }
  ~held_target() {
    if (service_ != nullptr) service_->forget(*this);
  }

  held_target* next = nullptr;
  held_target* prev = nullptr;
};

inline bool service::keep(held_target& target) noexcept {
  const std::lock_guard lock(mutex_);
  if (!shut_) held_.push_back(target);
  return !shut_;
}

inline void service::forget(held_target& target) noexcept {
  const std::lock_guard lock(mutex_);
  held_.remove(target);
}

inline void service::end_held_targets() noexcept {
  while (held_target* const each = held_.pop_front()) each->end();
}

/// The target that tasks spawned on one executor share. It is destroyed when the last of them has ended.
class lodging final : public target {
 public:
  explicit lodging(const any_executor& where) : target(where) {
    on_.at_work = net::prefer(where, net::execution::outstanding_work.tracked);
  }

  void leave(core::tenant& guest) noexcept { service_->leave(*this, guest); }
  [[nodiscard]] bool has_ended() const noexcept { return service_->has_ended(); }

  lodging* next = nullptr;
  lodging* prev = nullptr;

 private:
  friend service;
};

inline lodging& service::lodge(const any_executor& where, core::tenant& guest) {
  std::unique_ptr<lodging> made;  // allocated without the lock
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      lodging* host = one_on(where, lodgings_);
      if (host == nullptr && made) {
        host = made.release();
        lodgings_.push_front(*host);
      }
      if (host != nullptr) {
        ++host->on_.tenants;
        tenants_.push_back(guest);
        return *host;
      }
    }
    made = std::make_unique<lodging>(where);
  }
}

inline void service::leave(lodging& host, core::tenant& guest) noexcept {
  std::unique_ptr<lodging> empty;  // destroyed after unlocking: the context may run out of work
  const std::lock_guard lock(mutex_);
  tenants_.remove(guest);
  --reserved_;
  if (--host.on_.tenants != 0) return;
  lodgings_.remove(host);
  empty.reset(&host);
}

/// The target of one wait, inside the waiting frame, which may be destroyed while another thread posts its resumption:
/// post() uses a copy of the executor.
class frame_target final : public target {
 public:
  using target::target;
  void post(work& item) noexcept {
    const any_executor lasting = where();
    service_->post(lasting, item);
  }
};

/// The executor named in resume_on().
class named_target {
 public:
  explicit named_target(any_executor named) : target_(std::move(named)) {}
  named_target(const named_target& other) noexcept : target_(other.target_) {}
  named_target& operator=(const named_target&) = delete;

  void enter(core::context& where) noexcept { left_ = &where; }
  [[nodiscard]] executor_ref executor() const noexcept { return executor_ref(target_); }

  [[nodiscard]] const core::context* context() const noexcept { return left_; }

  /// A wait that resumes here is destroyed with the executor's context, if that is destroyed first.
  static constexpr bool may_end_first = true;
  void end() noexcept { target_.end(); }

  [[nodiscard]] const any_executor& where() const noexcept { return target_.where(); }
  [[nodiscard]] bool elsewhere() const noexcept { return true; }
  void arrived() noexcept {
    if (left_ != nullptr) left_->away = true;
  }

 private:
  mutable frame_target target_;
  core::context* left_ = nullptr;
};

}  // namespace front::inline WEIR_FRONT

template <asio_executor E>
struct wait::named_copy<E> {
  using type = front::named_target;
};

}  // namespace weir
