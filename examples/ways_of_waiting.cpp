// A callback, a coroutine and a blocked thread wait for one permit, in one queue, and are served in that order.

#include <cstddef>
#include <functional>
#include <string>
#include <thread>

#include <weir/weir.hpp>

namespace {

// [ways_of_waiting]
weir::task<> coroutine(weir::semaphore& turn, std::string& order) {
  co_await turn.acquire();
  order += "coroutine ";
  turn.release();
}

void thread(weir::semaphore& turn, std::string& order) {
  turn.acquire().wait();
  order += "thread ";
  turn.release();
}

weir::ticket callback(weir::semaphore& turn, std::string& order) {
  return turn.acquire().start([&](weir::result<> got) {
    if (!got) return;
    order += "callback ";
    turn.release();
  });  // ticket.cancel() would withdraw it
}
// [ways_of_waiting]

void await_queue_of(const weir::semaphore& turn, std::size_t length) {
  while (turn.waiting() < length) std::this_thread::yield();
}

}  // namespace

int main() {
  weir::semaphore turn(0);
  std::string order;
  weir::thread_pool pool(1);

  auto ticket = callback(turn, order);
  await_queue_of(turn, 1);
  auto done = weir::spawn(pool, coroutine(turn, order));
  await_queue_of(turn, 2);
  std::jthread blocked(thread, std::ref(turn), std::ref(order));
  await_queue_of(turn, 3);

  turn.release();  // each passes the permit on to the next
  blocked.join();
  done.get().wait();
  return order == "callback coroutine thread " && ticket.done() && turn.available() == 1 ? 0 : 1;
}
