// What weir costs, beside what the machine asks for the least that would do. The names W1 … are the workloads that the
// figures of others are known for. `per_op` is the time of one operation, whatever an iteration holds.
//
// Compare ratios to the floor of the same run, never bare numbers of different runs.

#include <benchmark/benchmark.h>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <tuple>
#include <utility>
#include <vector>

#include <weir/weir.hpp>

namespace {

using benchmark::Counter;
using benchmark::State;

constexpr int task_count = 1000;
constexpr int rounds = 1000;

void report(State& state, std::int64_t operations_an_iteration) {
  const auto operations = static_cast<double>(state.iterations() * operations_an_iteration);
  state.counters["per_op"] = Counter(operations, Counter::kIsRate | Counter::kInvert);
}

/// The time of one phase of an iteration, for benchmarks that set it by hand.
class stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// The floor.

void cas_pair(State& state) {
  std::atomic<std::uint64_t> word{0};
  for (auto _ : state) {
    std::uint64_t seen = 0;
    word.compare_exchange_strong(seen, 1, std::memory_order_acq_rel);
    seen = 1;
    word.compare_exchange_strong(seen, 0, std::memory_order_acq_rel);
  }
  report(state, 1);
}
BENCHMARK(cas_pair)->Name("floor/cas_pair");

void load_cas(State& state) {
  std::atomic<std::uint64_t> word{0};
  for (auto _ : state) {
    std::uint64_t seen = word.load(std::memory_order_acquire);
    word.compare_exchange_strong(seen, seen + 1, std::memory_order_acq_rel);
  }
  report(state, 1);
}
BENCHMARK(load_cas)->Name("floor/load_cas");

void xadd(State& state) {
  std::atomic<std::uint64_t> word{0};
  for (auto _ : state) benchmark::DoNotOptimize(word.fetch_add(1, std::memory_order_acq_rel));
  report(state, 1);
}
BENCHMARK(xadd)->Name("floor/xadd");

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

  explicit bare_coroutine(std::coroutine_handle<promise_type> started) noexcept : handle(started) {}
  bare_coroutine(const bare_coroutine&) = delete;
  bare_coroutine& operator=(const bare_coroutine&) = delete;
  ~bare_coroutine() { handle.destroy(); }

  std::coroutine_handle<promise_type> handle;
};

/// Not inlined: a compiler that sees which coroutine it is resumes nothing.
[[gnu::noinline]] bare_coroutine suspends_for_ever() {
  for (;;) co_await std::suspend_always();
}

void coroutine_resume(State& state) {
  const auto coroutine = suspends_for_ever();
  for (auto _ : state) coroutine.handle.resume();
  report(state, 1);
}
BENCHMARK(coroutine_resume)->Name("floor/coroutine_resume");

// W1, W2: nobody else wants it.

weir::task<> acquire_and_release(State& state, weir::semaphore& semaphore) {
  for (auto _ : state) {
    co_await semaphore.acquire();
    semaphore.release();
  }
}

void w1(State& state) {
  weir::semaphore semaphore(1);
  weir::sync_wait(acquire_and_release(state, semaphore));
  report(state, 1);
}
BENCHMARK(w1)->Name("W1/semaphore");

void w1_own_max(State& state) {
  weir::semaphore semaphore(1, 1);
  weir::sync_wait(acquire_and_release(state, semaphore));
  report(state, 1);
}
BENCHMARK(w1_own_max)->Name("W1/semaphore_own_max");

weir::task<> lock_and_unlock(State& state, weir::mutex& mutex) {
  for (auto _ : state) {
    co_await mutex.lock();
    mutex.unlock();
  }
}

void w2(State& state) {
  weir::mutex mutex;
  weir::sync_wait(lock_and_unlock(state, mutex));
  report(state, 1);
}
BENCHMARK(w2)->Name("W2/mutex");

// W3y, W4, W6: tasks that wait for one another, on one thread.

/// Runs `count` tasks that `make` gives on a run_loop of this thread, to their end.
template <class Make>
void run_together(int count, Make make) {
  std::vector<weir::task<>> tasks;
  for (int i = 0; i < count; ++i) tasks.push_back(make(i));
  weir::sync_wait(weir::when_all(std::move(tasks)));
}

weir::task<> locked_rounds(weir::mutex& mutex) {
  for (int i = 0; i < rounds; ++i) {
    co_await mutex.lock();
    co_await weir::yield();
    mutex.unlock();
  }
}

void w3y(State& state) {
  weir::mutex mutex;
  for (auto _ : state) run_together(task_count, [&](int) { return locked_rounds(mutex); });
  report(state, std::int64_t{task_count} * rounds);
}
BENCHMARK(w3y)->Name("W3y/mutex_1000_tasks")->Unit(benchmark::kMillisecond);

weir::task<> permitted_rounds(weir::semaphore& semaphore) {
  for (int i = 0; i < rounds; ++i) {
    co_await semaphore.acquire();
    co_await weir::yield();
    semaphore.release();
  }
}

void w4(State& state) {
  weir::semaphore semaphore(10);
  for (auto _ : state) run_together(task_count, [&](int) { return permitted_rounds(semaphore); });
  report(state, std::int64_t{task_count} * rounds);
}
BENCHMARK(w4)->Name("W4/semaphore_10_permits_1000_tasks")->Unit(benchmark::kMillisecond);

weir::task<> player(weir::semaphore& mine, weir::semaphore& other) {
  for (int i = 0; i < rounds; ++i) {
    co_await mine.acquire();
    other.release();
  }
}

void w6(State& state) {
  weir::semaphore ping(1);
  weir::semaphore pong(0);
  for (auto _ : state) run_together(2, [&](int i) { return i == 0 ? player(ping, pong) : player(pong, ping); });
  report(state, rounds);
}
BENCHMARK(w6)->Name("W6/ping_pong_round_trip")->Unit(benchmark::kMicrosecond);

// W7, W8, W9a: very many waiters.

weir::task<> wait_at(weir::semaphore& gate) { co_await gate.acquire(); }

weir::task<> wait_at_for_a_minute(weir::semaphore& gate) {
  const auto passed = co_await gate.acquire().within(std::chrono::minutes(1));
  if (!passed) std::abort();  // then the benchmark measures something else
}

weir::task<> open(weir::semaphore& gate, std::size_t waiters) {
  gate.release(waiters);
  co_return;
}

/// Parks `waiters` tasks, then lets them all through. Seconds of each.
std::pair<double, double> park_and_release(std::int64_t waiters, weir::task<> (*wait)(weir::semaphore&)) {
  weir::run_loop loop;
  weir::semaphore gate(0);
  loop.finish();  // from now on run() returns whenever nothing is left to run

  const stopwatch parking;
  for (std::int64_t i = 0; i < waiters; ++i) std::ignore = weir::spawn(loop, wait(gate));
  loop.run();
  const double parked = parking.seconds();

  const stopwatch releasing;
  std::ignore = weir::spawn(loop, open(gate, static_cast<std::size_t>(waiters)));
  loop.run();
  return {parked, releasing.seconds()};
}

void w7_park(State& state) {
  for (auto _ : state) state.SetIterationTime(park_and_release(state.range(0), wait_at).first);
  report(state, state.range(0));
}
BENCHMARK(w7_park)->Name("W7/park_spawn_included")->Arg(100'000)->UseManualTime()->Unit(benchmark::kMillisecond);

void w7_release(State& state) {
  for (auto _ : state) state.SetIterationTime(park_and_release(state.range(0), wait_at).second);
  report(state, state.range(0));
}
BENCHMARK(w7_release)->Name("W7/release")->Arg(100'000)->UseManualTime()->Unit(benchmark::kMillisecond);

void w8(State& state) {
  weir::semaphore gate(0);
  for (auto _ : state) {
    std::vector<weir::ticket> tickets;
    for (std::int64_t i = 0; i < state.range(0); ++i) tickets.push_back(gate.acquire().start([](weir::result<>) {}));
    const stopwatch cancelling;
    for (auto last = tickets.rbegin(); last != tickets.rend(); ++last) last->cancel();
    state.SetIterationTime(cancelling.seconds());
  }
  report(state, state.range(0));
}
BENCHMARK(w8)
    ->Name("W8/cancel_last_to_first")
    ->Arg(1'000)
    ->Arg(100'000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

void w9a(State& state) {
  for (auto _ : state) {
    const auto [parked, released] = park_and_release(state.range(0), wait_at_for_a_minute);
    state.SetIterationTime(parked + released);
  }
  report(state, state.range(0));
}
BENCHMARK(w9a)->Name("W9a/time_limits_all_satisfied")->Arg(100'000)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
