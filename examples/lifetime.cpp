// The good halves of the lifetime traps in docs/tour.md, docs/queue.md, docs/shared_mutex.md and docs/pool.md.

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/weir.hpp>

using namespace std::chrono_literals;

namespace {

std::string greet_one(const std::string& name) {
  // [order]
  weir::event ready;             // 1. the objects that the tasks use
  weir::thread_pool threads(2);  // 2. the executor that the tasks run on
  // [lambda]
  // The coroutine captures nothing: its parameters are copied into its frame.
  auto greet = [](weir::event& when, std::string whom) -> weir::task<std::string> {
    co_await when.wait();
    co_return "hello " + whom;
  };
  auto greeting = weir::spawn(threads, greet(ready, name));
  // [lambda]
  ready.set();
  return greeting.get().wait();  // 3. wait for the tasks before anything above is destroyed
  // [order]
}

// [push_from]
auto send(weir::queue<std::string>& out, int id) {
  std::string line = "id " + std::to_string(id);
  return out.push(std::move(line)).within(1s);  // the operation owns the item
}

weir::task<bool> send_or_keep(weir::queue<std::string>& out, std::string& line) {
  const auto sent = co_await out.push_from(line).within(1s);  // `line` exists until the wait has completed
  co_return sent.has_value();                                 // if false, `line` is untouched
}
// [push_from]

// [upgrade]
weir::task<weir::shared_mutex::guard> upgraded(weir::shared_mutex& m, weir::shared_mutex::shared_guard reading) {
  co_return co_await m.upgrade(std::move(reading));  // `reading` lives in this frame until the wait has completed
}
// [upgrade]

// [members]
struct service {
  weir::queue<int> results{64};  // 1. what the tasks use
  weir::thread_pool threads{2};  // 2. where they run
  weir::pool jobs{threads, 8};   // 3. what starts them

  service() = default;
  service(const service&) = delete;
  service& operator=(const service&) = delete;
  ~service() {
    results.close();      // a job that waits to push fails with errc::closed
    jobs.request_stop();  // no new jobs
    jobs.join().wait();   // no job is left when the members are destroyed
  }
};
// [members]

weir::task<> square(service& in, int number) { co_await in.results.push(number * number); }

int sum_of_squares() {
  service one;
  std::vector<weir::future<>> jobs;
  for (int number = 1; number <= 3; ++number) jobs.push_back(one.jobs.submit(square(one, number)).wait());
  for (auto& job : jobs) job.get().wait();
  int sum = 0;
  while (const auto each = one.results.try_pop()) sum += *each;
  return sum;
}

}  // namespace

int main() {
  bool right = greet_one("world") == "hello world";

  weir::queue<std::string> out(2);
  right = right && send(out, 7).wait() && out.try_pop() == "id 7";
  std::string line = "kept";
  right = right && weir::sync_wait(send_or_keep(out, line)) && out.try_pop() == "kept";
  out.close();
  std::string refused = "refused";
  right = right && !weir::sync_wait(send_or_keep(out, refused)) && refused == "refused";

  weir::shared_mutex mutex;
  {
    const auto writing = weir::sync_wait(upgraded(mutex, mutex.try_scoped_lock_shared()));
    right = right && writing && mutex.locked() && mutex.readers() == 0;
  }
  right = right && !mutex.locked();
  return right && sum_of_squares() == 14 ? 0 : 1;
}
