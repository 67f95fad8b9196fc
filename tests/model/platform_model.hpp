#pragma once

// The platform of weir under the explorer: the names of core/platform_std.hpp, each access a step at which another
// fiber may go on. Sequentially consistent whatever order is asked for; no compare-exchange fails for no reason.

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <source_location>
#include <type_traits>
#include <utility>

#include <model/scheduler.hpp>

namespace weir::platform {

template <class T>
class atomic {
  using order = std::memory_order;
  using site = std::source_location;
  static constexpr order strongest = order::seq_cst;

 public:
  constexpr atomic() noexcept : value_() {}
  constexpr atomic(T value) noexcept : value_(value) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load(order = strongest, const site& from = site::current()) const noexcept {
    enter("load", from);
    model::note(bits(value_));
    return value_;
  }
  operator T() const noexcept { return load(); }
  void store(T value, order = strongest, const site& from = site::current()) noexcept {
    enter("store", from);
    set(value);
  }
  T exchange(T value, order = strongest, const site& from = site::current()) noexcept {
    enter("exchange", from);
    return set(value);
  }
  bool compare_exchange_strong(T& expected, T wanted, order = strongest, order = strongest,
                               const site& from = site::current()) noexcept {
    enter("compare_exchange", from);
    if (value_ == expected) {
      set(wanted);
      return true;
    }
    expected = value_;
    model::note(bits(value_));
    return false;
  }
  bool compare_exchange_weak(T& expected, T wanted, order = strongest, order = strongest,
                             const site& from = site::current()) noexcept {
    return compare_exchange_strong(expected, wanted, strongest, strongest, from);
  }
  T fetch_add(T by, order = strongest, const site& from = site::current()) noexcept {
    enter("fetch_add", from);
    return set(static_cast<T>(value_ + by));
  }
  T fetch_sub(T by, order = strongest, const site& from = site::current()) noexcept {
    enter("fetch_sub", from);
    return set(static_cast<T>(value_ - by));
  }
  T fetch_and(T with, order = strongest, const site& from = site::current()) noexcept {
    enter("fetch_and", from);
    return set(static_cast<T>(value_ & with));
  }
  T fetch_or(T with, order = strongest, const site& from = site::current()) noexcept {
    enter("fetch_or", from);
    const T before = set(static_cast<T>(value_ | with));
    model::step("after it", nullptr, from);  // so that what is still touched then is touched too late
    return before;
  }

 private:
  void enter(const char* what, const site& from) const noexcept {
    model::step(what, this, from);
    canary_.check();
  }

  T set(T value) noexcept {
    const T before = std::exchange(value_, value);
    if (!(before == value)) model::changed();
    model::note(bits(value));
    return before;
  }

  static std::uint64_t bits(const T& value) noexcept {
    std::uint64_t seen = 0;
    std::memcpy(&seen, &value, sizeof(T) < sizeof(seen) ? sizeof(T) : sizeof(seen));
    return seen;
  }

  T value_;
  model::canary canary_;
};

/// One object of each type for each fiber of each schedule.
template <class T>
T& local() noexcept {
  static_assert(sizeof(T) <= model::local_size && std::is_trivially_destructible_v<T>);
  static const int number = model::new_local();
  bool fresh = false;
  void* memory = model::local_memory(number, fresh);
  return *(fresh ? new (memory) T{} : static_cast<T*>(memory));
}

/// Waits for a change by others, unless there was one since the last look.
class spinner {
 public:
  void step() noexcept {
    if (seen_ == model::changes()) model::spin(++times_);
    seen_ = model::changes();
  }

 private:
  int times_ = 0;
  std::uint64_t seen_ = model::changes();
};

inline constexpr int looks_before_sleep = 1;

inline bool keep_library_loaded() noexcept { return false; }
inline void pause() noexcept {}
inline void prefetch(const void*) noexcept {}
inline void prefetch_far(const void*, const void*, const void*) noexcept {}
inline void prefetch_around(const void*) noexcept {}

class parker {
 public:
  void look_then_park() noexcept { park(); }
  void park() noexcept {
    for (enter("park"); !std::exchange(signal_, false); canary_.check()) {
      sleeper_ = model::self();
      model::block();
    }
    sleeper_ = nobody;
  }

  void unpark() noexcept {
    enter("unpark");
    signal_ = true;
    model::changed();
    if (sleeper_ != nobody) model::wake(sleeper_);
  }

 private:
  static constexpr int nobody = -1;

  void enter(const char* what) noexcept {
    model::step(what, this);
    canary_.check();
  }

  bool signal_ = false;
  int sleeper_ = nobody;
  model::canary canary_;
};

/// A fiber. Its body is kept until it is joined.
class thread {
 public:
  thread() noexcept = default;
  template <class Body>
  explicit thread(Body body) : started_(std::make_unique<running<Body>>(std::move(body))) {
    model::spawn(
        [](void* object) {
          auto& self = *static_cast<running<Body>*>(object);
          self.body();
          model::step("end of a thread", &self);
          self.ended.unpark();
        },
        static_cast<running<Body>*>(started_.get()));
  }
  thread(thread&&) noexcept = default;
  thread& operator=(thread&&) noexcept = default;
  ~thread() {
    if (joinable()) model::fail("a thread was not joined");
  }

  [[nodiscard]] bool joinable() const noexcept { return started_ != nullptr; }
  void join() noexcept {
    started_->ended.park();
    started_.reset();
  }

 private:
  struct state {
    virtual ~state() = default;
    parker ended;
  };
  template <class Body>
  struct running final : state {
    explicit running(Body given) : body(std::move(given)) {}
    Body body;
  };

  std::unique_ptr<state> started_;
};

// Stop tokens, as the standard says: a callback runs inside request_stop(), or at once if that was called before; its
// deregistration waits for it, unless it is done from inside it.

namespace stopping {

struct callback {
  callback* next = nullptr;
  void (*call)(callback&) noexcept = nullptr;
};

struct state {
  bool requested = false;
  callback* first = nullptr;
  callback* running = nullptr;
  int runner = 0;

  bool request() noexcept {
    model::step("request_stop", this);
    if (std::exchange(requested, true)) return false;
    runner = model::self();
    while (first != nullptr) {
      running = std::exchange(first, first->next);
      running->call(*running);
      model::step("stop_callback returned", this);
      running = nullptr;
      model::changed();
    }
    return true;
  }

  /// False: it has run at once.
  bool add(callback& added) noexcept {
    model::step("stop_callback", this);
    if (requested) {
      added.call(added);
      return false;
    }
    added.next = std::exchange(first, &added);
    return true;
  }

  void remove(callback& removed) noexcept {
    model::step("~stop_callback", this);
    for (callback** at = &first; *at != nullptr; at = &(*at)->next) {
      if (*at != &removed) continue;
      *at = removed.next;
      return;
    }
    if (runner == model::self()) running = nullptr;  // from inside it, or after it
    for (int times = 1; running == &removed; ++times) model::spin(times);
  }
};

}  // namespace stopping

class stop_token {
 public:
  stop_token() noexcept = default;
  [[nodiscard]] bool stop_requested() const noexcept {
    if (state_ == nullptr) return false;
    model::step("stop_requested", state_.get());
    return state_->requested;
  }
  [[nodiscard]] bool stop_possible() const noexcept { return state_ != nullptr; }
  friend bool operator==(const stop_token&, const stop_token&) noexcept = default;

 private:
  friend class stop_source;
  template <class>
  friend class stop_callback;
  explicit stop_token(std::shared_ptr<stopping::state> shared) noexcept : state_(std::move(shared)) {}
  std::shared_ptr<stopping::state> state_;
};

class stop_source {
 public:
  stop_source() : state_(std::make_shared<stopping::state>()) {}
  [[nodiscard]] stop_token get_token() const noexcept { return stop_token(state_); }
  [[nodiscard]] bool stop_requested() const noexcept { return get_token().stop_requested(); }
  [[nodiscard]] bool stop_possible() const noexcept { return true; }
  bool request_stop() noexcept { return std::shared_ptr(state_)->request(); }

 private:
  std::shared_ptr<stopping::state> state_;
};

template <class Callback>
class stop_callback : private stopping::callback {
 public:
  template <class From>
  explicit stop_callback(const stop_token& token, From&& from) : callback_(std::forward<From>(from)) {
    call = [](stopping::callback& called) noexcept { static_cast<stop_callback&>(called).callback_(); };
    auto state = token.state_;
    if (state != nullptr && state->add(*this)) state_ = std::move(state);
  }
  stop_callback(const stop_callback&) = delete;
  stop_callback& operator=(const stop_callback&) = delete;
  ~stop_callback() {
    if (state_ != nullptr) state_->remove(*this);
  }

 private:
  std::shared_ptr<stopping::state> state_;
  Callback callback_;
};

}  // namespace weir::platform
