// A service is told to stop while one worker is idle, one is at work and one is stuck: the first ends at once, the
// second ends its request, and the third is stopped when the time of grace is over.
//
// Prints:
//   idle: went home
//   busy: ended its request
//   stuck: was stopped

#include <chrono>
#include <cstdio>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <variant>

#include <weir/weir.hpp>

using namespace std::chrono_literals;

namespace {

struct request {
  weir::event& answer;  // the database's; a stuck one is never set
};

// [service]
struct service {
  weir::event stopping;      // accept no new requests
  weir::wait_group workers;  // workers that have not ended
  std::stop_source enough;   // cancel the waits that remain
};

weir::task<std::string> work(service& at, weir::queue<request>& requests) {
  for (;;) {
    auto next = co_await weir::select(at.stopping.wait(), requests.pop());
    if (next.index() == 0) co_return "went home";  // even if a request is there: the first listed wins
    auto taken = std::get<1>(std::move(next));
    if (!taken) co_return "went home";
    auto answered = co_await taken->answer.wait().stop_on(at.enough.get_token());
    if (!answered) co_return "was stopped";
    if (at.stopping.is_set()) co_return "ended its request";
  }
}

weir::task<> shut_down(service& at, std::chrono::milliseconds grace) {
  at.stopping.set();
  auto gone = co_await at.workers.wait().within(grace);
  if (gone) co_return;
  at.enough.request_stop();
  co_await at.workers.wait();  // waits with the token end at once
}
// [service]

// [counted]
weir::task<> counted(service& at, weir::queue<request>& requests, std::string& ended) {
  ended = co_await work(at, requests);
  at.workers.done();
}

weir::future<> start(weir::thread_pool& on, service& at, weir::queue<request>& requests, std::string& ended) {
  at.workers.add();  // before it starts, not inside it
  return weir::spawn(on, counted(at, requests, ended));
}
// [counted]

}  // namespace

int main() {
  weir::manual_timers clock;  // the time of grace is over when we say so
  const weir::use_timers by_hand(clock);
  service at;
  weir::queue<request> none, one, two;
  weir::event slow, never;
  one.try_push(request{slow});
  two.try_push(request{never});
  std::string idle, busy, stuck;
  weir::thread_pool threads(2);
  auto first = start(threads, at, none, idle);
  auto second = start(threads, at, one, busy);
  auto third = start(threads, at, two, stuck);
  while (slow.waiting() < 1 || never.waiting() < 1) std::this_thread::yield();

  auto down = weir::spawn(threads, shut_down(at, 10s));
  while (at.workers.waiting() < 1) std::this_thread::yield();
  slow.set();
  first.get().wait();
  second.get().wait();
  clock.advance(11s);
  third.get().wait();
  down.get().wait();
  std::printf("idle: %s\nbusy: %s\nstuck: %s\n", idle.c_str(), busy.c_str(), stuck.c_str());
  return idle == "went home" && busy == "ended its request" && stuck == "was stopped" ? 0 : 1;
}
