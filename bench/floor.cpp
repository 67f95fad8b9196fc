// The floor: what the machine asks for the least that would do.

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <thread>

#include "rows.hpp"

namespace bench {
namespace {

constexpr int often = 10'000'000;

/// Warms up with a tenth, then measures `count` calls of `once`.
template <class Once>
void measure(const run& row, int count, Once once) {
  for (int i = 0; i < count / 10; ++i) once();
  row.tell_each(timed([&] {
                  for (int i = 0; i < count; ++i) once();
                }),
                count);
}

void cas_pair(const run& row) {
  std::atomic<std::uint64_t> word{0};
  measure(row, often, [&] {
    std::uint64_t seen = 0;
    word.compare_exchange_strong(seen, 1, std::memory_order_acq_rel);
    seen = 1;
    word.compare_exchange_strong(seen, 0, std::memory_order_acq_rel);
  });
}

void load_cas(const run& row) {
  std::atomic<std::uint64_t> word{0};
  measure(row, often, [&] {
    std::uint64_t seen = word.load(std::memory_order_acquire);
    word.compare_exchange_strong(seen, seen + 1, std::memory_order_acq_rel);
  });
}

void xadd(const run& row) {
  std::atomic<std::uint64_t> word{0};
  measure(row, often, [&] {
    auto before = word.fetch_add(1, std::memory_order_acq_rel);
    keep(before);
  });
}

/// Runs when resumed for the first time, and belongs to whoever made it.
struct bare_coroutine {
  struct promise_type {
    bare_coroutine get_return_object() {
      return bare_coroutine(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };

  explicit bare_coroutine(std::coroutine_handle<promise_type> made) noexcept : handle(made) {}
  bare_coroutine(const bare_coroutine&) = delete;
  bare_coroutine& operator=(const bare_coroutine&) = delete;
  ~bare_coroutine() { handle.destroy(); }

  std::coroutine_handle<promise_type> handle;
};

// These are not inlined: a compiler that sees which coroutine it is resumes nothing.

[[gnu::noinline]] bare_coroutine suspends_for_ever() {
  for (;;) co_await std::suspend_always();
}

void resume(const run& row) {
  const auto coroutine = suspends_for_ever();
  measure(row, often, [&] { coroutine.handle.resume(); });
}

[[gnu::noinline]] bare_coroutine ends_at_once() { co_return; }

void frame(const run& row) {
  measure(row, often, [] { ends_at_once().handle.resume(); });
}

struct transfer_to {
  std::coroutine_handle<>& next;
  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<>) const noexcept { return next; }
  void await_resume() const noexcept {}
};

/// Transfers to `other` until the count is used up.
[[gnu::noinline]] bare_coroutine transfers(std::coroutine_handle<>& other, int& count) {
  transfer_to next{other};
  while (--count > 0) co_await next;
}

void symmetric_transfer(const run& row) {
  int count = often;
  std::coroutine_handle<> first;
  std::coroutine_handle<> second;
  const auto one = transfers(second, count);
  const auto two = transfers(first, count);
  first = one.handle;
  second = two.handle;
  row.tell_each(timed([&] { first.resume(); }), often);
}

void clock_now(const run& row) {
  measure(row, often / 10, [] {
    auto now = std::chrono::steady_clock::now();
    keep(now);
  });
}

void allocate(const run& row) {
  measure(row, often, [] {
    void* block = std::malloc(128);
    keep(block);
    std::free(block);
  });
}

/// Two threads on two cores hand the turn to each other; `pass` waits for its turn and gives the other one theirs.
template <class Pass>
void round_trips(const run& row, int count, Pass pass) {
  const timing took = timed([&] {
    std::thread other([&] {
      pin_this_thread(1);
      for (int i = 0; i < count; ++i) pass(1);
    });
    pin_this_thread(0);
    for (int i = 0; i < count; ++i) pass(0);
    other.join();
  });
  row.tell_each(took, count);
}

void cache_line(const run& row) {
  alignas(64) std::atomic<int> turn{0};
  round_trips(row, 1'000'000, [&](int mine) {
    while (turn.load(std::memory_order_acquire) != mine) {
    }
    turn.store(1 - mine, std::memory_order_release);
  });
}

void futex_round_trip(const run& row) {
  alignas(64) std::atomic<int> turn{0};
  round_trips(row, 20'000, [&](int mine) {
    while (turn.load(std::memory_order_acquire) != mine) {
      syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, 1 - mine, nullptr, nullptr, 0);
    }
    turn.store(1 - mine, std::memory_order_release);
    syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  });
}

}  // namespace

void add_floor(rows& all) {
  all.push_back({"cas_pair", 1, cas_pair});
  all.push_back({"load_cas", 1, load_cas});
  all.push_back({"xadd", 1, xadd});
  all.push_back({"resume", 1, resume});
  all.push_back({"symmetric_transfer", 1, symmetric_transfer});
  all.push_back({"frame", 1, frame});
  all.push_back({"clock", 1, clock_now});
  all.push_back({"malloc", 1, allocate});
  all.push_back({"cache_line", 2, cache_line});
  all.push_back({"futex_round_trip", 2, futex_round_trip});
}

}  // namespace bench
