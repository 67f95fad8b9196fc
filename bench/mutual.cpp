// W1–W4, W6: semaphore and mutex, wanted by nobody else, by a thousand tasks and more, and by two in turn.

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "rows.hpp"
#include "tasks.hpp"

namespace bench {
namespace {

constexpr int often = 5'000'000;

// W1, W2: nobody else wants it.

weir::task<> acquire_and_release(weir::semaphore& semaphore, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    co_await semaphore.acquire();
    semaphore.release();
  }
}

void uncontended_semaphore(const run& row, weir::semaphore& semaphore) {
  weir::sync_wait(acquire_and_release(semaphore, often / 10));
  row.tell_each(timed([&] { weir::sync_wait(acquire_and_release(semaphore, often)); }), often);
}

void w1(const run& row) {
  weir::semaphore semaphore(permits);
  uncontended_semaphore(row, semaphore);
}

void w1_own_max(const run& row) {
  weir::semaphore semaphore(permits, permits);
  uncontended_semaphore(row, semaphore);
}

weir::task<> lock_and_unlock(weir::mutex& mutex, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    co_await mutex.lock();
    mutex.unlock();
  }
}

void w2(const run& row) {
  weir::mutex mutex;
  weir::sync_wait(lock_and_unlock(mutex, often / 10));
  row.tell_each(timed([&] { weir::sync_wait(lock_and_unlock(mutex, often)); }), often);
}

// W3, W3y, W4: a thousand tasks want it.

weir::task<> count_under(weir::mutex& mutex, long& counted, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    co_await mutex.lock();
    ++counted;
    mutex.unlock();
  }
}

void w3(const run& row) {
  weir::mutex mutex;
  long counted = 0;
  place where(row.threads());
  where.run(task_count, [&](int) { return count_under(mutex, counted, rounds_each / 20); });
  counted = 0;
  row.tell_each(where.run(task_count, [&](int) { return count_under(mutex, counted, rounds_each); }), all_rounds);
  expect(counted == static_cast<long>(all_rounds), "the mutex excludes");
}

weir::task<> yield_under(weir::mutex& mutex, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    co_await mutex.lock();
    co_await weir::yield();
    mutex.unlock();
  }
}

void w3y(const run& row) {
  weir::mutex mutex;
  place where(row.threads());
  where.run(task_count, [&](int) { return yield_under(mutex, rounds_each / 20); });
  row.tell_each(where.run(task_count, [&](int) { return yield_under(mutex, rounds_each); }), all_rounds);
}

void w4(const run& row) {
  weir::semaphore semaphore(permits);
  place where(row.threads());
  where.run(task_count, [&](int) { return permitted_rounds(semaphore, rounds_each / 20); });
  row.tell_each(where.run(task_count, [&](int) { return permitted_rounds(semaphore, rounds_each); }), all_rounds);
}

/// Times what lies between two counts, and leaves out how tasks start and end.
struct window {
  long from;
  long to;
  long passed = 0;
  stopwatch watch{};
  timing took{};

  void pass() {
    ++passed;
    if (passed == from) watch = {};
    if (passed == to) took = watch.elapsed();
  }
};

weir::task<> counted_rounds(weir::semaphore& semaphore, window& counts, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    co_await semaphore.acquire();
    co_await weir::yield();
    semaphore.release();
    counts.pass();
  }
}

weir::task<> counted_limited_rounds(weir::semaphore& semaphore, window& counts, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    const auto passed = co_await semaphore.acquire().within(std::chrono::minutes(1));
    expect(passed.has_value(), "nobody times out");
    co_await weir::yield();
    semaphore.release();
    counts.pass();
  }
}

/// W4 with so many in the queue: first come, first served, so all have queued when everybody has had one round.
void many_queued(const run& row, int waiters, weir::task<> (*take_turns)(weir::semaphore&, window&, int)) {
  const int tasks = waiters + static_cast<int>(permits);
  const int rounds = std::max(6, static_cast<int>(all_rounds) / tasks);
  weir::semaphore semaphore(permits);
  window counts{.from = tasks, .to = long{tasks} * (rounds - 1)};
  place(1).run(tasks, [&](int) { return take_turns(semaphore, counts, rounds); });
  row.tell_each(counts.took, static_cast<double>(counts.to - counts.from));
}

// W6: two in turn.

weir::task<> player(weir::semaphore& mine, weir::semaphore& other, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    co_await mine.acquire();
    other.release();
  }
}

void w6(const run& row) {
  constexpr int rounds = 1'000'000;
  weir::semaphore ping(1);
  weir::semaphore pong(0);
  const auto play = [&](int i) { return i == 0 ? player(ping, pong, rounds) : player(pong, ping, rounds); };
  row.tell_each(place(1).run(2, play), rounds);
}

/// Each player on a run_loop and a core of its own.
void w6_across(const run& row) {
  constexpr int rounds = 200'000;
  weir::semaphore ping(1);
  weir::semaphore pong(0);
  const timing took = timed([&] {
    std::thread other([&] {
      pin_this_thread(1);
      weir::sync_wait(player(pong, ping, rounds));
    });
    pin_this_thread(0);
    weir::sync_wait(player(ping, pong, rounds));
    other.join();
  });
  row.tell_each(took, rounds);
}

}  // namespace

void add_mutual(rows& all) {
  all.push_back({"W1", 1, w1});
  all.push_back({"W1/own_max", 1, w1_own_max});
  all.push_back({"W2", 1, w2});
  for (int threads : {1, 2, 4}) {
    all.push_back({"W3", threads, w3});
    all.push_back({"W3y", threads, w3y});
    all.push_back({"W4", threads, w4});
  }
  all.push_back({"W6", 1, w6});
  all.push_back({"W6", 2, w6_across});
  for (int waiters = 1; waiters <= 1'000'000; waiters *= 10) {
    const auto add = [&](const std::string& name, auto take_turns) {
      all.push_back(
          {name + std::to_string(waiters), 1, [=](const run& row) { many_queued(row, waiters, take_turns); }});
    };
    add("W4/waiters_", counted_rounds);
    add("W9a/armed_", counted_limited_rounds);  // each with a timer, too
  }
}

}  // namespace bench
