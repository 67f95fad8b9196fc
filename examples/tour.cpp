// The programs of docs/tour.md: a bakery with two ovens.
//
// Prints:
//   baked: loaf cake pie, 2 ovens at most
//   in a hurry: took too long, was sent home, baked
//   in one line: callback coroutine thread
//   at the counter: roll bun closed
//   the till: 50
//   the big order: 12 baked, 1 burnt
//   the last customer: the synchronizer is closed

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <weir/weir.hpp>

using namespace std::chrono_literals;

namespace {

bool right = true;

void check(bool holds, const char* what, const std::string& seen) {
  std::printf("%s: %s\n", what, seen.c_str());
  right = right && holds;
}

int hot = 0, hottest = 0;

weir::task<> heat() {
  hottest = std::max(hottest, ++hot);
  co_await weir::sleep_for(1ms);
  --hot;
}

// [bake]
weir::task<std::string> bake(weir::semaphore& ovens, std::string what) {
  auto oven = co_await ovens.scoped_acquire();  // suspends until an oven is free
  co_await heat();
  co_return what;
}  // the permit is released here, and granted to the first waiter

std::string bake_three() {
  weir::semaphore ovens(2);
  auto all = weir::when_all(bake(ovens, "loaf"), bake(ovens, "cake"), bake(ovens, "pie"));
  const auto [first, second, third] = weir::sync_wait(std::move(all));
  return first + " " + second + " " + third;
}
// [bake]

// [limits]
weir::task<std::string> in_a_hurry(weir::semaphore& ovens, std::stop_token sent_home) {
  auto oven = co_await ovens.scoped_acquire().within(5ms).stop_on(sent_home);
  if (oven) co_return "baked";
  co_return oven.error() == weir::errc::timed_out ? "took too long" : "was sent home";
}
// [limits]

// [ways]
weir::task<> by_coroutine(weir::semaphore& oven, std::string& order) {
  co_await oven.acquire();  // the coroutine is suspended
  order += "coroutine ";
  oven.release();
}

void by_thread(weir::semaphore& oven, std::string& order) {
  oven.acquire().wait();  // the thread is blocked
  order += "thread";
  oven.release();
}

weir::ticket by_callback(weir::semaphore& oven, std::string& order) {
  return oven.acquire().start([&](weir::result<> got) {  // called when the permit is granted
    if (!got) return;
    order += "callback ";
    oven.release();
  });
}
// [ways]

std::string one_line() {
  weir::semaphore oven(0);
  std::string order;
  weir::thread_pool threads(1);
  auto in_line = [&oven](std::size_t length) {
    while (oven.waiting() < length) std::this_thread::yield();
  };
  auto ticket = by_callback(oven, order);
  in_line(1);
  auto ended = weir::spawn(threads, by_coroutine(oven, order));
  in_line(2);
  std::jthread blocked(by_thread, std::ref(oven), std::ref(order));
  in_line(3);
  oven.release();
  blocked.join();
  ended.get().wait();
  return order;
}

// [counter]
weir::task<std::string> counter(weir::queue<std::string>& orders, weir::event& closing_time) {
  std::string sold;
  for (;;) {
    auto next = co_await weir::select(orders.pop(), closing_time.wait()).within(1h);
    if (!next) co_return sold + "asleep";               // timed out: an hour without a customer
    if (next->index() == 1) co_return sold + "closed";  // closing time, and no order is left
    auto order = std::get<0>(std::move(*next));
    if (!order) co_return sold + "closed";  // the queue was closed and is drained
    sold += *order + " ";
  }
}
// [counter]

// [till]
using till = weir::guarded<int>;

weir::task<> pay(till& money, int price) {
  auto cash = co_await money.lock();
  const int before = *cash;
  co_await weir::yield();  // counts the change; the till stays locked
  *cash = before + price;
}
// [till]

weir::task<std::string> bake_carefully(int number) {
  co_await weir::sleep_for(1ms);
  if (number == 13) throw std::runtime_error("burnt");
  co_return "loaf";
}

// [big_order]
weir::task<std::string> big_order(weir::thread_pool& bakers) {
  weir::pool ovens(bakers, 4);
  std::vector<weir::future<std::string>> loaves;
  for (int number = 1; number <= 13; ++number) {
    auto loaf = co_await ovens.submit(bake_carefully(number));  // waits while four tasks are running
    loaves.push_back(std::move(loaf));
  }
  int baked = 0, burnt = 0;
  for (auto& loaf : loaves) {
    auto got = co_await loaf.get().as_result();
    ++(got ? baked : burnt);
  }
  co_return std::to_string(baked) + " baked, " + std::to_string(burnt) + " burnt";
}
// [big_order]

// [closing]
weir::task<std::string> last_customer(weir::semaphore& ovens) {
  auto oven = co_await ovens.scoped_acquire().as_result();
  co_return oven ? "served" : oven.error().message();
}

void close_shop(weir::semaphore& ovens, weir::permit still_baking) {
  ovens.close();           // current and later waits fail with errc::closed
  still_baking.release();  // a permit that is held can still be released
}
// [closing]

std::string late_customer(weir::thread_pool& bakers) {
  weir::semaphore ovens(1);
  auto baking = ovens.scoped_acquire().wait();
  auto late = weir::spawn(bakers, last_customer(ovens));
  while (ovens.waiting() == 0) std::this_thread::yield();
  close_shop(ovens, std::move(baking));
  return late.get().wait();
}

}  // namespace

int main() {
  const auto three = bake_three();
  check(three == "loaf cake pie" && hottest == 2, "baked", three + ", " + std::to_string(hottest) + " ovens at most");

  weir::semaphore ovens(1);
  std::stop_source manager;
  std::string hurry;
  {
    const auto taken = ovens.scoped_acquire().wait();
    hurry += weir::sync_wait(in_a_hurry(ovens, {})) + ", ";
    manager.request_stop();
    hurry += weir::sync_wait(in_a_hurry(ovens, manager.get_token())) + ", ";
  }
  hurry += weir::sync_wait(in_a_hurry(ovens, {}));
  check(hurry == "took too long, was sent home, baked", "in a hurry", hurry);

  const auto order = one_line();
  check(order == "callback coroutine thread", "in one line", order);

  weir::queue<std::string> orders(8);
  weir::event closing_time(true);
  for (const char* what : {"roll", "bun"}) orders.try_push(what);
  const auto sold = weir::sync_wait(counter(orders, closing_time));
  check(sold == "roll bun closed", "at the counter", sold);

  weir::thread_pool bakers(2);
  till money(0);
  std::vector<weir::future<>> payments;
  for (int i = 0; i < 10; ++i) payments.push_back(weir::spawn(bakers, pay(money, 5)));
  for (auto& each : payments) each.get().wait();
  const int cash = *money.lock().wait();
  check(cash == 50, "the till", std::to_string(cash));

  const auto big = weir::sync_wait(big_order(bakers));
  check(big == "12 baked, 1 burnt", "the big order", big);

  const auto told = late_customer(bakers);
  check(told == "the synchronizer is closed", "the last customer", told);
  return right ? 0 : 1;
}
