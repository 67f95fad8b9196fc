// What the page for Asio users shows, piece by piece.

#include <chrono>
#include <cstddef>
#include <exception>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/weir.hpp>

#include "binding.hpp"

using namespace std::chrono_literals;

namespace {

// [first]
asio::awaitable<std::string> fetch(weir::semaphore& connections, int page) {
  auto connection = co_await connections.async_scoped_acquire(asio::use_awaitable);  // at most three at a time
  asio::steady_timer answer(co_await asio::this_coro::executor, 1ms);                // talk to the server
  co_await answer.async_wait(asio::use_awaitable);
  co_return "page " + std::to_string(page);
}  // the permit is returned here

int fetch_all(int pages) {
  asio::io_context io;
  weir::semaphore connections(3);
  int fetched = 0;
  for (int page = 0; page < pages; ++page) {
    asio::co_spawn(io, fetch(connections, page),
                   [&](std::exception_ptr failed, std::string) { fetched += failed ? 0 : 1; });
  }
  io.run();
  return fetched;
}
// [first]

// [tokens]
asio::awaitable<int> tokens(asio::io_context& io, weir::queue<int>& jobs) {
  int sum = 0;
  auto add = [&sum](net_error error, std::optional<int> job) { sum += error ? 0 : job.value_or(0); };
  jobs.async_pop(asio::bind_executor(io, add));      // a callback with an executor,
  jobs.pop().resume_on(io.get_executor())(add);      // or an operation with one
  jobs.async_push(1, asio::detached);                // ignores the outcome
  auto pushed = jobs.push(2)(asio::use_future);      // a std::future, for a thread that may block
  co_await jobs.async_push(3, asio::use_awaitable);  // the value, or an exception
  auto third = co_await jobs.async_pop(asio::use_awaitable);

  // the error instead of an exception
  auto [late, nothing] = co_await jobs.pop().within(5ms)(as_tuple(asio::use_awaitable));

  auto pop = jobs.pop()(deferred);  // nothing happens yet
  jobs.close();
  auto end = co_await std::move(pop)(asio::use_awaitable);  // closed and drained: nullopt, not an error

  pushed.get();
  const bool as_expected = late == weir::errc::timed_out && !nothing && !end;
  co_return as_expected ? sum + third.value_or(0) : -1;
}
// [tokens]

// [either]
asio::awaitable<int> take_until(asio::steady_timer& deadline, weir::queue<int>& jobs) {
  using namespace asio::experimental::awaitable_operators;
  for (int taken = 0;; ++taken) {
    auto first = co_await (jobs.async_pop(asio::use_awaitable) || deadline.async_wait(asio::use_awaitable));
    if (first.index() == 1) co_return taken;  // and no item was lost
  }
}
// [either]

asio::awaitable<bool> loses_nothing() {
  const auto here = co_await asio::this_coro::executor;
  weir::queue<int> jobs;
  asio::steady_timer deadline(here, 3ms);
  asio::steady_timer pause(here);
  int pushed = 0;
  auto push = [](weir::queue<int>& into, asio::steady_timer& rests, asio::steady_timer& until,
                 int& count) -> asio::awaitable<void> {
    while (until.expiry() + 1ms > std::chrono::steady_clock::now()) {
      into.try_push(++count);
      rests.expires_after(20us);
      co_await rests.async_wait(asio::use_awaitable);
    }
  };
  using namespace asio::experimental::awaitable_operators;
  const int taken = co_await (take_until(deadline, jobs) && push(jobs, pause, deadline, pushed));
  co_return taken + static_cast<int>(jobs.size()) == pushed;
}

// [slot]
bool cancel_by_slot() {
  asio::io_context io;
  weir::semaphore none(0);
  asio::cancellation_signal give_up;
  net_error seen;
  auto handler = asio::bind_executor(io, [&seen](net_error error) { seen = error; });
  none.async_acquire(asio::bind_cancellation_slot(give_up.slot(), handler));
  give_up.emit(asio::cancellation_type::terminal);  // constant time, however many waiters there are
  io.run();
  return seen == asio::error::operation_aborted && none.waiting() == 0;
}
// [slot]

// [pool]
asio::awaitable<int> square(int x) {
  asio::steady_timer work(co_await asio::this_coro::executor, 1ms);
  co_await work.async_wait(asio::use_awaitable);
  co_return x* x;
}

asio::awaitable<int> sum_of_squares(int n) {
  weir::pool four(co_await asio::this_coro::executor, 4);
  std::vector<weir::future<int>> squares;
  for (int x = 1; x <= n; ++x) {
    auto made = co_await four.async_submit(square(x), asio::use_awaitable);  // waits while four run
    squares.push_back(std::move(made));
  }
  int sum = 0;
  for (auto& each : squares) sum += co_await each.async_get(asio::use_awaitable);
  co_return sum;
}
// [pool]

// [task]
weir::task<> count_up(asio::strand<asio::thread_pool::executor_type> one_at_a_time, weir::event& go, int& counted) {
  asio::steady_timer soon(one_at_a_time, 1ms);
  co_await soon.async_wait(weir::use_task);  // any Asio operation; the task resumes on its own executor
  soon.expires_after(1ms);
  co_await soon.async_wait(deferred);           // the same
  co_await go.wait().resume_on(one_at_a_time);  // this one time it resumes on the strand ...
  ++counted;                                    // ... where it runs alone,
  co_await weir::yield();                       // and then it is back on its own executor
}

int count_to(int n) {
  asio::thread_pool threads(2);
  auto one_at_a_time = asio::make_strand(threads);
  weir::event go;
  int counted = 0;
  std::vector<weir::future<void>> counters;
  for (int i = 0; i < n; ++i) {
    counters.push_back(weir::spawn(threads.get_executor(), count_up(one_at_a_time, go, counted)));
  }
  go.set();
  for (auto& each : counters) each.get().wait();
  threads.join();
  return counted;
}
// [task]

// [try_first]
asio::awaitable<void> append(weir::mutex& lock, std::string& log, std::string text) {
  if (!lock.try_lock()) co_await lock.async_lock(asio::use_awaitable);
  log += text;
  lock.unlock();
}
// [try_first]

template <class T>
std::optional<T> run(asio::io_context& io, asio::awaitable<T> body) {
  std::optional<T> made;
  asio::co_spawn(io, std::move(body), [&made](std::exception_ptr failed, T value) {
    if (!failed) made = std::move(value);
  });
  io.restart();
  io.run();
  return made;
}

asio::awaitable<std::string> write_log() {
  weir::mutex lock;
  std::string log;
  co_await append(lock, log, "first ");
  co_await append(lock, log, "second");
  co_return log;
}

}  // namespace

int main() {
  asio::io_context io(1);
  weir::queue<int> jobs;
  bool right = fetch_all(10) == 10;
  right = right && run(io, tokens(io, jobs)) == 6;
  right = right && run(io, loses_nothing()) == true;
  right = right && cancel_by_slot();
  right = right && run(io, sum_of_squares(10)) == 385;
  right = right && count_to(20) == 20;
  right = right && run(io, write_log()) == "first second";
  return right ? 0 : 1;
}
