// An Asio executor as one of weir's. It is copied; its context must outlive what runs on it.

#include <concepts>
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

 private:
  shared_executor on_;
  service* service_;
};

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
