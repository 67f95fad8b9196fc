// ./dev soak [seconds]: tasks, threads and callbacks wait, with limits, for everything there is, are cancelled, closed
// and destroyed at random, round after round. At the end of each round the sums must be right: nothing lost, nothing
// doubled, nobody left, and after many rounds no memory grown.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <weir/weir.hpp>

#include <support/build.hpp>
#include <support/memory.hpp>

namespace {

using namespace std::chrono_literals;
using weir::errc;

constexpr std::size_t permits = 4;
constexpr int tasks = 6;
constexpr int threads = 2;
constexpr int steps_each = 120;

std::uint64_t seed_of_round = 0;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "soak: %s. Again with:  build/*/tests/soak 1 %llu\n", what,
               static_cast<unsigned long long>(seed_of_round));
  std::abort();
}

class dice {
 public:
  explicit dice(std::uint64_t seed) : random_(static_cast<std::uint32_t>(seed * 2654435761u + 1)) {}
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::chrono::microseconds moment() { return std::chrono::microseconds(below(60)); }

 private:
  std::minstd_rand random_;
};

/// What a round happens to. The counts say what must be true when it is over.
struct world {
  weir::semaphore sem{permits};
  weir::mutex lock;
  weir::shared_mutex shared;
  weir::condition changed;
  weir::event flag;
  weir::auto_reset_event once;
  weir::queue<int> items{3};
  std::atomic<long> pushed{0}, popped{0};
  weir::wait_group callbacks;
  std::atomic<int> inside{0};
  std::atomic<int> readers{0}, writers{0};
  int guarded = 0;  // by lock
  std::stop_source stop;

  void enter_exclusive() { require(++inside == 1, "two hold the mutex"); }
  void leave_exclusive() { --inside; }
};

weir::task<> use_mutex(world& w, dice& die) {
  auto held = co_await w.lock.scoped_lock().within(die.moment());
  if (!held) co_return;
  w.enter_exclusive();
  ++w.guarded;
  w.leave_exclusive();
  if (die.below(3) != 0) co_return;
  const auto told = co_await w.changed.wait(*held).within(die.moment()).stop_on(w.stop.get_token());
  if (told.error() != errc::closed) {
    w.enter_exclusive();
    w.leave_exclusive();
  }
}

weir::task<> use_shared(world& w, dice& die) {
  if (die.below(3) != 0) {
    auto reads = co_await w.shared.scoped_lock_shared().within(die.moment());
    if (!reads) co_return;
    ++w.readers;
    require(w.writers == 0, "a reader is inside with a writer");
    co_await weir::yield();
    --w.readers;
  } else {
    auto writes = co_await w.shared.scoped_lock().within(die.moment());
    if (!writes) co_return;
    require(++w.writers == 1 && w.readers == 0, "a writer is not alone");
    co_await weir::yield();
    --w.writers;
  }
}

weir::task<> use_select(world& w, dice& die) {
  auto first = co_await weir::select(w.items.pop(), w.sem.acquire(), w.once.wait(), w.flag.wait()).within(die.moment());
  if (!first) co_return;
  if (first->index() == 0 && std::get<0>(*first)) ++w.popped;
  if (first->index() == 1) w.sem.release();
}

weir::task<> one_step(world& w, dice& die) {
  switch (die.below(8)) {
    case 0: {
      const auto n = static_cast<std::size_t>(die.below(3) + 1);
      if (co_await w.sem.acquire(n).within(die.moment())) {
        co_await weir::yield();
        w.sem.release(n);
      }
      break;
    }
    case 1:
      co_await use_mutex(w, die);
      break;
    case 2:
      co_await use_shared(w, die);
      break;
    case 3:
      if (co_await w.items.push(1).within(die.moment())) ++w.pushed;
      break;
    case 4: {
      const auto got = co_await w.items.pop().within(die.moment());
      if (got && *got) ++w.popped;
      break;
    }
    case 5:
      co_await use_select(w, die);
      break;
    case 6:
      w.once.set();
      w.changed.notify_one();
      w.flag.notify_all();
      break;
    default:
      co_await weir::yield();
  }
}

weir::task<> as_task(world& w, std::uint64_t seed) {
  dice die(seed);
  for (int i = 0; i < steps_each; ++i) co_await one_step(w, die);
}

void as_thread(world& w, std::uint64_t seed) {
  dice die(seed);
  for (int i = 0; i < steps_each; ++i) {
    switch (die.below(4)) {
      case 0:
        if (w.sem.acquire(2).within(die.moment()).stop_on(w.stop.get_token()).wait()) w.sem.release(2);
        break;
      case 1:
        if (w.items.push(1).within(die.moment()).wait()) ++w.pushed;
        break;
      case 2:
        if (auto held = w.lock.scoped_lock().within(die.moment()).wait()) {
          w.enter_exclusive();
          w.leave_exclusive();
          w.changed.notify_all();
        }
        break;
      default: {
        auto first = weir::select(w.sem.acquire(), w.items.pop()).within(die.moment()).wait();
        if (!first) break;
        if (first->index() == 0) w.sem.release();
        if (first->index() == 1 && std::get<1>(*first)) ++w.popped;
      }
    }
  }
}

/// Callbacks that are cancelled at random; what is left when the world ends is closed by that.
std::vector<weir::ticket> with_callbacks(world& w, std::uint64_t seed) {
  dice die(seed);
  std::vector<weir::ticket> kept;
  for (int i = 0; i < steps_each; ++i) {
    w.callbacks.add();
    auto counts = [&w](weir::result<> granted) {
      if (granted) w.sem.release();
      w.callbacks.done();
    };
    auto issued = w.sem.acquire().stop_on(w.stop.get_token()).start(counts);
    if (die.below(2) == 0) {
      issued.cancel();
    } else {
      kept.push_back(std::move(issued));
    }
  }
  return kept;
}

void one_round(weir::thread_pool& pool, std::uint64_t seed) {
  seed_of_round = seed;
  dice die(seed);
  std::optional<world> w(std::in_place);
  std::vector<weir::future<>> running;
  for (int i = 0; i < tasks; ++i) running.push_back(weir::spawn(pool, as_task(*w, seed + static_cast<unsigned>(i))));
  std::vector<weir::ticket> tickets;
  {
    std::vector<std::jthread> blocked;
    for (int i = 0; i < threads; ++i)
      blocked.emplace_back([&, i] { as_thread(*w, seed + 100 + static_cast<unsigned>(i)); });
    tickets = with_callbacks(*w, seed + 200);
    if (die.below(4) == 0) w->stop.request_stop();
    if (die.below(8) == 0) w->items.close();
    if (die.below(8) == 0) w->changed.close();
  }
  for (auto& each : running) each.get().wait();
  // The last of them may still run where a limit ended: on the thread of the timers.
  require(w->callbacks.wait().within(1min).wait().has_value(), "a callback was never called");
  require(w->sem.available() == permits, "permits were lost or doubled");
  require(w->pushed == w->popped + static_cast<long>(w->items.size()), "items were lost or doubled");
  require(!w->lock.locked() && !w->shared.locked(), "a lock is held by nobody");
  require(w->sem.waiting() + w->lock.waiting() + w->items.waiting() + w->shared.waiting() + w->changed.waiting() +
                  w->flag.waiting() + w->once.waiting() ==
              0,
          "somebody is still queued");
  w->once.reset();
  const int left = die.below(20);
  std::atomic<int> closed{0};
  for (int i = 0; i < left; ++i) {
    auto counts = [&](weir::result<> outcome) { closed += outcome.error() == errc::closed ? 1 : 0; };
    tickets.push_back(w->once.wait().within(1h).start(counts));
  }
  w.reset();
  require(closed == left, "destroying did not complete a waiter");
}

}  // namespace

int main(int argc, char** argv) {
  const long seconds = argc > 1 ? std::atol(argv[1]) : 60;
  if (seconds <= 0) {
    std::fprintf(stderr, "usage: soak [seconds [seed]]\n");
    return 2;
  }
  std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  weir::thread_pool pool(2);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  std::size_t rounds = 0;
  std::size_t settled = 0;
  for (; std::chrono::steady_clock::now() < end; ++rounds, seed += 1000) {
    one_round(pool, seed);
    if (rounds == 200) settled = weir::test::resident_kib();
  }
  const std::size_t now = weir::test::resident_kib();
  std::printf("soak: %zu rounds, each sum right; memory %zu KiB after 200 rounds, %zu KiB now\n", rounds, settled, now);
  if (!weir::test::sanitized && settled != 0) require(now <= settled + 4096, "memory has grown");
}
