#pragma once

// Waits with a callback: start(callback), and the ticket that cancels the wait. One allocation holds the operation and
// the callback. The callback and its captures are destroyed when it has returned, the rest when the ticket is gone too.

#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

#include <weir/core/atomic.hpp>
#include <weir/core/context.hpp>
#include <weir/core/executor.hpp>
#include <weir/core/users.hpp>
#include <weir/wait/wait_state.hpp>

namespace weir {

namespace wait {

/// The part of a started operation that its ticket uses, independent of the type of the operation.
class started {
 public:
  started(const started&) = delete;
  started& operator=(const started&) = delete;

  void drop() noexcept {
    if (users_.leave()) destroy_(*this);
  }

  bool cancel() noexcept { return cancel_(*this); }
  // acquire: pairs with entered()
  [[nodiscard]] bool done() const noexcept { return done_.load(std::memory_order_acquire); }

 protected:
  using cancel_function = bool (*)(started&) noexcept;
  using destroy_function = void (*)(started&) noexcept;

  started(cancel_function how_to_cancel, destroy_function how_to_destroy) noexcept
      : cancel_(how_to_cancel), destroy_(how_to_destroy) {}
  ~started() = default;

  void entered() noexcept { done_.store(true, std::memory_order_release); }  // release: pairs with done()

 private:
  cancel_function cancel_;
  destroy_function destroy_;
  core::users users_{2};  // the operation and the ticket
  platform::atomic<bool> done_{false};
};

}  // namespace wait

/// Cancels an operation that was started with a callback. Destroying the ticket cancels nothing.
class [[nodiscard("dropping a ticket withdraws nothing, but say so: std::ignore = ...")]] ticket {
 public:
  /// Constructs a ticket of no operation: done() is true.
  ticket() noexcept = default;
  explicit ticket(wait::started& operation) noexcept : operation_(&operation), id_(owner_id::make().value()) {}
  ticket(ticket&& from) noexcept
      : operation_(std::exchange(from.operation_, nullptr)), id_(std::exchange(from.id_, 0)) {}
  ticket& operator=(ticket&& from) noexcept {
    ticket taken(std::move(from));
    std::swap(operation_, taken.operation_);
    std::swap(id_, taken.id_);
    return *this;
  }
  ~ticket() {
    if (operation_ != nullptr) operation_->drop();
  }

  /// Unique in the program; 0 only for a ticket of no operation.
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }

  /// True: this call cancelled the wait, and the callback receives errc::cancelled. False: it has its outcome already.
  bool cancel() noexcept { return operation_ != nullptr && operation_->cancel(); }

  /// Whether the callback has been entered.
  [[nodiscard]] bool done() const noexcept { return operation_ == nullptr || operation_->done(); }

 private:
  wait::started* operation_ = nullptr;
  std::uint64_t id_ = 0;
};

namespace wait {

/// True if the executor may be destroyed before the callback has been called: then it destroys the callback.
template <class Where>
inline constexpr bool may_end_first = requires { Where::may_end_first; };

struct never_evicted {
  explicit never_evicted(void (*)(core::tenant&) noexcept) noexcept {}
};

template <core::waitable Op, unsigned Limits, class Where, class Callback>
class callback_wait final : private started,
                            private wait_state<Op, Limits>,
                            private std::conditional_t<may_end_first<Where>, core::tenant, never_evicted> {
  using state = wait_state<Op, Limits>;
  using guest = std::conditional_t<may_end_first<Where>, core::tenant, never_evicted>;

 public:
  static ticket start(state&& described, Where where, Callback&& callback) {
    auto* self = new callback_wait(std::move(described), where, std::move(callback));
    ticket issued(*self);
    try {
      self->begin();
    } catch (...) {  // nothing was started: the ticket is the only user left
      self->drop();
      throw;
    }
    return issued;
  }

 private:
  callback_wait(state&& described, Where where, Callback&& callback)
      : started([](started& s) noexcept { return of(s).give_up(core::outcome::cancelled); },
                [](started& s) noexcept { delete &of(s); }),
        state(std::move(described)),
        guest([](core::tenant& evicted) noexcept {
          if constexpr (may_end_first<Where>) static_cast<callback_wait&>(evicted).destroy_pending();
        }),
        where_(where),
        callback_(std::move(callback)) {
    this->take_along();
  }

  static callback_wait& of(started& s) noexcept { return static_cast<callback_wait&>(s); }
  static callback_wait& of(work& w) noexcept { return static_cast<callback_wait&>(static_cast<state&>(w)); }

  void begin() {
    this->set_deciders(core::deciders::anybody);  // the ticket may decide the wait as soon as it exists
    if (!enlist()) {
      this->decide(core::outcome::cancelled);
      if constexpr (may_end_first<Where>) where_.end();
      destroy_uncalled();
      return;
    }
    this->run_ = [](work& told) noexcept { of(told).deliver(); };
    if (ready() || !this->enqueue()) deliver();
  }

  bool ready() {
    try {
      core::context where(where_.executor(), {}, {});
      state::enter(where);
      return state::ready();
    } catch (...) {
      delist();
      throw;
    }
  }

  bool enlist() noexcept {
    if constexpr (may_end_first<Where>) {
      return where_.executor().enlist(*this);
    } else {
      return true;
    }
  }

  /// Ends all use of the executor, which the ticket may outlive.
  void delist() noexcept {
    if constexpr (may_end_first<Where>) {
      where_.executor().delist(*this);
      where_.end();
    }
  }

  /// Called if the executor is destroyed first: gives back a grant that was not delivered.
  void destroy_pending() noexcept {
    this->abandon(where_.executor());
    delist();
    destroy_uncalled();
  }

  void destroy_uncalled() noexcept {
    callback_.reset();
    drop();
  }

  void deliver() noexcept {
    this->run_ = [](work& posted) noexcept {
      auto& self = of(posted);
      self.finish();
      self.delist();
      self.entered();
      (*self.callback_)(self.take_or_failure());  // a callback that throws terminates
      self.callback_.reset();                     // precedes drop(): the callback may own the ticket
      self.drop();
    };
    where_.executor().post(*this);
  }

  /// Reports an exception from take() (no memory, a move that throws) like a failure of the wait.
  result<typename state::value_type> take_or_failure() noexcept {
    try {
      return this->take_outcome();
    } catch (...) {
      return result<typename state::value_type>::failure(std::current_exception());
    }
  }

  Where where_;
  std::optional<Callback> callback_;
};

}  // namespace wait
}  // namespace weir
