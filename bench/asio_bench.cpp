// Under Asio. W8 by slot: cancelling one waiter must cost the same however many wait.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>

#include <benchmark/benchmark.h>
#include <asio.hpp>

#include <weir/asio.hpp>
#include <weir/semaphore.hpp>

namespace {

using clock_type = std::chrono::steady_clock;

/// Parks `waiters` handlers, and cancels them from the last to the first by their slots.
void w8_slot(benchmark::State& state) {
  const auto waiters = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    asio::io_context io(1);
    weir::semaphore gate(0);
    std::deque<asio::cancellation_signal> signals(waiters);
    std::size_t aborted = 0;
    auto counts = [&](asio::error_code error) { aborted += error == asio::error::operation_aborted ? 1 : 0; };
    for (auto& each : signals) {
      gate.acquire()(asio::bind_cancellation_slot(each.slot(), asio::bind_executor(io.get_executor(), counts)));
    }
    const auto began = clock_type::now();
    for (std::size_t i = waiters; i-- > 0;) signals[i].emit(asio::cancellation_type::terminal);
    state.SetIterationTime(std::chrono::duration<double>(clock_type::now() - began).count());
    io.run();
    if (aborted != waiters) std::abort();  // then the benchmark measures something else
  }
  state.counters["per_op"] = benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(waiters),
                                                benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(w8_slot)->Name("W8/asio_slot")->Arg(1'000)->Arg(100'000)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
