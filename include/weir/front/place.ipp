// The place of a handler: the executor that it completes on, and the memory of its wait.

#include <memory>
#include <type_traits>
#include <utility>

#include <weir/core/executor.hpp>
#include <weir/core/work.hpp>

namespace weir::front::inline WEIR_FRONT {

/// A handler without an Asio executor. It runs on a weir executor, or in the flat loop.
template <class Handler>
class elsewhere {
 public:
  template <class Given>
  elsewhere(executor_ref to, Given&& given) : handler(std::forward<Given>(given)), where_(to) {}
  [[nodiscard]] executor_ref where() const noexcept { return where_; }

  Handler handler;

 private:
  executor_ref where_;
};

/// True for an Asio coroutine: co_spawn keeps outstanding work on its context already.
template <class Handler>
inline constexpr bool is_at_work = false;
#if defined(WEIR_HAS_ASIO_AWAITABLE)
template <class... Args>
inline constexpr bool is_at_work<net::detail::awaitable_handler<any_executor, Args...>> = true;
#endif

/// A handler with an Asio executor. Its context has outstanding work until the handler is destroyed.
template <class Handler>
class in_context {
 public:
  template <class Given>
  in_context(const any_executor& to, Given&& given)
      : resumption_(&service::of(to).open()), tracked_(track(to)), handler(std::forward<Given>(given)) {}
  [[nodiscard]] executor_ref where() noexcept { return executor_ref(*this); }

  void post(work& item) noexcept { host().post(executor(), item, *resumption_); }
  bool retract(work& item) noexcept { return host().retract(item); }  // used only when the context is destroyed
  core::timer_source& timers() noexcept { return host().timers(executor()); }
  bool enlist(core::tenant& wait) noexcept { return host().enlist(*resumption_, wait); }
  void delist(core::tenant&) noexcept { host().close(*resumption_); }

 private:
  static auto track(const any_executor& to) {
    if constexpr (is_at_work<Handler>) {
      return core::nothing();
    } else {
      return net::prefer(to, net::execution::outstanding_work.tracked);
    }
  }
  decltype(auto) executor() const noexcept {
    if constexpr (is_at_work<Handler>) {
      return net::get_associated_executor(handler);
    } else {
      return (tracked_);
    }
  }

  [[nodiscard]] service& host() const noexcept { return *resumption_->from; }

  resumption* resumption_;
  [[no_unique_address]] decltype(track(std::declval<any_executor>())) tracked_;

 public:
  Handler handler;  // destroyed before tracked_, the work on its context
};

/// False under AddressSanitizer, which would miss a use after free in recycled memory.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool recycles = false;
#elif defined(__has_feature)
inline constexpr bool recycles = !__has_feature(address_sanitizer);
#else
inline constexpr bool recycles = true;
#endif

/// Returns the handler's allocator; if it has none, the one that Asio uses for its own operations.
template <class Handler>
auto allocator_of(const Handler& handler) noexcept {
  if constexpr (recycles && std::is_same_v<typename net::associated_allocator<Handler>::type, std::allocator<void>>) {
    return net::recycling_allocator<void>();
  } else {
    return net::get_associated_allocator(handler);
  }
}

}  // namespace weir::front::inline WEIR_FRONT
