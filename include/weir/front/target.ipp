// An Asio executor as one of weir's. It is copied; its context must outlive what runs on it.

#include <concepts>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#include <weir/wait/operation.hpp>

namespace weir {

/// An executor of Asio's: io.get_executor(), a strand, any_io_executor, …
template <class E>
concept asio_executor =
    !executor<E> && net::execution::is_executor<E>::value && std::constructible_from<front::any_executor, E>;

namespace front {

class target {
 public:
  explicit target(any_executor where) : on_(std::move(where)), service_(&service::of(on_.where)) {}
  target(const target& other) noexcept : on_(other.where()), service_(other.service_) {}
  target& operator=(const target&) = delete;
  ~target() = default;

  void post(work& item) noexcept { service_->post(where(), item); }
  bool retract(work& item) noexcept { return service_->retract(item); }
  core::timer_source& timers() noexcept { return service_->timers(where()); }
  void enlist(core::tenant& running) noexcept { service_->enlist(on_, running); }
  void delist(core::tenant& running) noexcept { service_->delist(on_, running); }

  [[nodiscard]] const any_executor& where() const noexcept { return on_.where; }

 protected:
  shared_executor on_;
  service* service_;
};

/// The target of all tasks that were spawned on one executor, while any of them is there.
class lodging final : public target {
 public:
  explicit lodging(const any_executor& where) : target(where) {
    on_.at_work = net::prefer(where, net::execution::outstanding_work.tracked);
  }

  void leave(core::tenant& guest) noexcept { service_->leave(*this, guest); }

  lodging* next = nullptr;
  lodging* prev = nullptr;

 private:
  friend service;
};

inline lodging& service::lodge(const any_executor& where, core::tenant& guest) {
  std::unique_ptr<lodging> made;  // under no lock
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
  std::unique_ptr<lodging> empty;  // declared before the lock: the context may find that it has nothing to do
  const std::lock_guard lock(mutex_);
  tenants_.remove(guest);
  if (--host.on_.tenants != 0) return;
  lodgings_.remove(host);
  empty.reset(&host);
}

/// What resume_on said.
class named_target {
 public:
  explicit named_target(any_executor named) : target_(std::move(named)) {}
  named_target(const named_target& other) noexcept : target_(other.target_) {}
  named_target& operator=(const named_target&) = delete;

  void enter(core::context& where) noexcept { left_ = &where; }
  [[nodiscard]] executor_ref executor() const noexcept { return executor_ref(target_); }
  [[nodiscard]] const any_executor& where() const noexcept { return target_.where(); }
  [[nodiscard]] bool elsewhere() const noexcept { return true; }
  void arrived() noexcept {
    if (left_ != nullptr) left_->away = true;
  }

 private:
  mutable target target_;
  core::context* left_ = nullptr;
};

}  // namespace front

template <asio_executor E>
struct wait::named_copy<E> {
  using type = front::named_target;
};

}  // namespace weir
