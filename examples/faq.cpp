// What docs/faq.md quotes: the right way where the wrong one is easily taken.
//
// Prints:
//   captures: 3
//   pushed without the lock: 20
//   both halves, with one slot and with two: 72
//   the large one goes first: 2 permits, 1 waits, try: no
//   withdrawn in time: yes
//   who waits: connections 0 free, 2 wait; jobs 1 inside, 0 push, 0 pop

#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <weir/weir.hpp>

namespace {

// [captures]
weir::task<> add_when_set(weir::event& go, int& sum, int amount) {  // takes what it needs as parameters
  co_await go.wait();
  sum += amount;
}

void start(weir::thread_pool& on, weir::event& go, int& sum, std::vector<weir::future<>>& running) {
  auto add = [&](int amount) { return add_when_set(go, sum, amount); };  // a lambda, but not a coroutine
  running.push_back(weir::spawn(on, add(3)));
}  // `add` is destroyed here and no longer needed
// [captures]

// [push_unlocked]
struct station {
  weir::guarded<std::vector<int>> readings;
  weir::queue<int> outbox{2};
};

weir::task<> send_readings(station& at) {
  std::vector<int> taken;
  {
    auto list = co_await at.readings.lock();
    taken.swap(*list);
  }  // unlocked before it waits for room
  for (int reading : taken) co_await at.outbox.push(reading);  // the consumer may lock anything
}
// [push_unlocked]

weir::task<int> receive(station& at) {
  int count = 0;
  while (auto reading = co_await at.outbox.pop()) {
    auto list = co_await at.readings.lock();  // would wait for ever for one that pushes and holds it
    ++count;
  }
  co_return count;
}

weir::task<> send_and_close(station& at) {
  co_await send_readings(at);
  at.outbox.close();
}

weir::task<int> count(int from, int to) {
  co_await weir::yield();
  int sum = 0;
  for (int i = from; i <= to; ++i) sum += i;
  co_return sum;
}

// [own_pool]
/// Starts the task if a slot is free; otherwise returns nullopt and leaves the task alone.
std::optional<weir::future<int>> fork(weir::pool& pool, weir::task<int>& part) {
  return pool.try_submit(std::move(part));
}

weir::task<int> count_both_halves(weir::pool& pool) {  // itself runs in that pool
  auto left = count(1, 4);
  auto forked = fork(pool, left);
  int sum = co_await count(5, 8);
  if (forked) {
    sum += co_await forked->get();
  } else {
    sum += co_await std::move(left);
  }
  co_return sum;
}
// [own_pool]

std::string in_line() {
  // [in_line]
  weir::semaphore seats(2);
  auto party_of_three = seats.acquire(3).start([](weir::result<>) {});
  const bool sneaked_in = seats.try_acquire(1);  // false: a waiter is queued, and needs three
  // [in_line]
  const auto text =
      std::to_string(seats.available()) + " permits, " + std::to_string(seats.waiting()) + " waits, try: ";
  party_of_three.cancel();
  return text + (sneaked_in ? "yes" : "no");
}

// [ticket]
class listener {
 public:
  explicit listener(weir::event& news) {
    ticket_ = news.wait().start([this](weir::result<> told) {
      heard_ = told.has_value();
      called_.set();  // the last access to this object
    });
  }
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;
  ~listener() {
    ticket_.cancel();       // if it was too late, the callback may be running now
    called_.wait().wait();  // so wait for its end: it is always called exactly once
  }
  [[nodiscard]] bool heard() const { return heard_; }

 private:
  weir::event called_;
  bool heard_ = false;
  weir::ticket ticket_;
};
// [ticket]

bool withdrawn() {
  weir::event news;
  {
    const listener one(news);
    if (one.heard() || news.waiting() != 1) return false;
  }
  return news.waiting() == 0;
}

// [who_waits]
std::string who_waits(const weir::semaphore& connections, const weir::queue<int>& jobs) {
  return "connections " + std::to_string(connections.available()) + " free, " + std::to_string(connections.waiting()) +
         " wait; jobs " + std::to_string(jobs.size()) + " inside, " + std::to_string(jobs.waiting_push()) + " push, " +
         std::to_string(jobs.waiting_pop()) + " pop";
}
// [who_waits]

std::string a_look() {
  weir::semaphore connections(0);
  weir::queue<int> jobs(1);
  jobs.try_push(1);
  auto first = connections.acquire().start([](weir::result<>) {});
  auto second = connections.acquire().start([](weir::result<>) {});
  auto seen = who_waits(connections, jobs);
  connections.close();
  return seen;
}

}  // namespace

int main() {
  weir::thread_pool threads(2);
  weir::event go;
  int added = 0;
  std::vector<weir::future<>> running;
  start(threads, go, added, running);
  go.set();
  for (auto& each : running) each.get().wait();
  std::printf("captures: %d\n", added);

  station at;
  at.readings.lock().wait()->assign(20, 7);
  const auto [sent, received] = weir::sync_wait(weir::when_all(send_and_close(at), receive(at)));
  std::printf("pushed without the lock: %d\n", received);

  int total = 0;
  for (const std::size_t slots : {std::size_t{1}, std::size_t{2}}) {
    weir::pool pool(threads, slots);
    auto summing = pool.submit(count_both_halves(pool)).wait();
    total += summing.get().wait();
  }
  std::printf("both halves, with one slot and with two: %d\n", total);

  const auto line = in_line();
  std::printf("the large one goes first: %s\n", line.c_str());
  const bool gone = withdrawn();
  std::printf("withdrawn in time: %s\n", gone ? "yes" : "no");
  const auto seen = a_look();
  std::printf("who waits: %s\n", seen.c_str());
  return added == 3 && received == 20 && total == 72 && line == "2 permits, 1 waits, try: no" && gone ? 0 : 1;
}
