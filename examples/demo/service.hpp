#pragma once

// The service of the demo, and the running example of docs/demo.md: some hundred clients ask, connections are admitted
// by a semaphore, jobs run in a pool, their results reach the one who writes through a bounded queue, the configuration
// is behind a shared_mutex, and everything stops by an event and a wait_group. Every synchronizer pushes back: a slow
// writer fills the queue, a full queue holds the jobs, held jobs hold connections, and clients whose patience ends go
// away.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <random>
#include <utility>

#include <weir/weir.hpp>

namespace demo {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

/// What somebody who watches wants to know of the waits on one synchronizer.
struct meter {
  std::atomic<long> waits{0}, timed_out{0};

  /// Counts a wait that is over. Whether it got what it wanted.
  template <class T>
  bool count(const weir::result<T>& waited) {
    ++waits;
    if (waited.error() == weir::errc::timed_out) ++timed_out;
    return waited.has_value();
  }
};

class dice {
 public:
  explicit dice(unsigned seed) : random_(seed) {}
  milliseconds between(int low, int high) { return milliseconds(std::uniform_int_distribution(low, high)(random_)); }

 private:
  std::minstd_rand random_;
};

/// Changed in two steps with a wait in between: without the lock somebody would see the versions differ.
struct configuration {
  int version = 0;
  bool rush_hour = true;
  bool disk_is_slow = false;
  int version_saved = 0;
};

// [service]
struct service {
  static constexpr std::size_t client_count = 400, connection_count = 60;

  explicit service(weir::thread_pool& threads) : jobs(threads, 24) {}

  weir::semaphore connections{connection_count};  // requests being served
  weir::pool jobs;                                // running jobs
  weir::queue<int> results{64};                   // results to be written
  weir::shared_mutex config_lock;                 // many readers, one writer
  configuration config;                           // protected by config_lock
  weir::event closing;                            // ends every pause at once
  weir::wait_group clients;                       // clients that have not ended

  meter admission, submission, handing_over, reading, changing, pausing;
  std::atomic<long> asked{0}, answered{0}, gave_up{0}, refused{0};
  std::atomic<long> computed{0}, written{0}, torn{0};
};
// [service]

// [config]
inline weir::task<configuration> read_config(service& s) {
  auto reading = co_await s.config_lock.scoped_lock_shared().as_result();
  s.reading.count(reading);
  if (s.config.version != s.config.version_saved) ++s.torn;
  co_return s.config;
}

/// Changes the configuration now and then, and locks out the readers until it is saved.
inline weir::task<> administrator(service& s) {
  for (;;) {
    const auto closing = co_await s.closing.wait().within(1500ms);
    if (closing) co_return;
    auto changing = co_await s.config_lock.scoped_lock().as_result();
    s.changing.count(changing);
    const int version = ++s.config.version;
    s.config.rush_hour = version % 4 < 2;
    s.config.disk_is_slow = version % 3 == 1;
    co_await weir::sleep_for(60ms);  // holds the lock across a wait, but blocks no thread
    ++s.config.version_saved;
  }
}
// [config]

// [job]
/// Runs in the pool. While the queue is full, it waits and keeps its slot.
inline weir::task<> compute(service& s, int id, milliseconds work) {
  co_await weir::sleep_for(work);
  ++s.computed;
  const auto pushed = co_await s.results.push(id).as_result();
  s.handing_over.count(pushed);
}

/// The only writer: writes all available results at once, until the queue is closed and drained.
inline weir::task<> writer(service& s) {
  for (;;) {
    const auto batch = co_await s.results.pop_many(32);
    if (batch.empty()) co_return;
    s.written += static_cast<long>(batch.size());
    const configuration config = co_await read_config(s);
    co_await weir::sleep_for(config.disk_is_slow ? 40ms : 4ms);
  }
}
// [job]

// [request]
/// One request, with its client's deadline. If it gives up, its destructors release what it holds.
inline weir::task<> request(service& s, int id, dice& die) {
  ++s.asked;
  const auto patience = std::chrono::steady_clock::now() + die.between(40, 160);
  auto connection = co_await s.connections.scoped_acquire().until(patience);
  if (!s.admission.count(connection)) {
    ++(connection.error() == weir::errc::timed_out ? s.gave_up : s.refused);
    co_return;
  }
  auto submitted = co_await s.jobs.submit(compute(s, id, die.between(2, 10))).until(patience);
  if (!s.submission.count(submitted)) {
    ++s.gave_up;
    co_return;
  }
  co_await submitted->get();
  ++s.answered;
}

inline weir::task<> client(service& s, int id) {
  dice die(static_cast<unsigned>(id));
  for (;;) {
    const configuration config = co_await read_config(s);
    const auto pause = config.rush_hour ? die.between(1, 100) : die.between(100, 800);
    const auto closing = co_await s.closing.wait().within(pause);  // a pause that ends when the service stops
    ++s.pausing.waits;
    if (closing) break;
    co_await request(s, id, die);
  }
  s.clients.done();
}
// [request]

// [run]
/// Runs the service until `closing` is set. Then, in this order: no new requests, admitted requests are served, their
/// results are written.
inline weir::task<> run(service& s, weir::thread_pool& threads) {
  auto writes = weir::spawn(threads, writer(s));
  auto administers = weir::spawn(threads, administrator(s));
  s.clients.add(service::client_count);
  for (std::size_t i = 1; i <= service::client_count; ++i) {
    auto dropped = weir::spawn(threads, client(s, static_cast<int>(i)));  // a dropped future stops nothing
  }
  co_await s.closing.wait();
  s.connections.close();  // waiting requests are refused; admitted ones are served to the end
  co_await s.clients.wait();
  co_await s.jobs.join();
  s.results.close();
  co_await writes.get();
  co_await administers.get();
}
// [run]

}  // namespace demo
