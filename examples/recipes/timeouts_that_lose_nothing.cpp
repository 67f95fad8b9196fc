// A consumer whose patience ends again and again loses no item; a producer whose patience ends keeps its own.
//
// Prints:
//   1000 items, in order
//   the parcel was refused, and is still here
//   the result came at the second asking: 42

#include <chrono>
#include <cstdio>
#include <memory>
#include <utility>

#include <weir/weir.hpp>

using namespace std::chrono_literals;

namespace {

weir::task<> produce(weir::queue<int>& items, int count) {
  for (int item = 0; item < count; ++item) {
    co_await items.push(item);
    if (item % 50 == 0) co_await weir::sleep_for(200us);
  }
  items.close();
}

// [pop]
weir::task<int> count_in_order(weir::queue<int>& items) {
  int expected = 0;
  for (;;) {
    auto item = co_await items.pop().within(20us);  // far too short, on purpose
    if (!item) continue;                            // timed out: no item was taken
    if (!*item) co_return expected;                 // closed and drained
    if (**item != expected++) co_return -1;
  }
}
// [pop]

// [push]
weir::task<bool> send(weir::queue<std::unique_ptr<int>>& box, std::unique_ptr<int>& parcel) {
  auto sent = co_await box.push_from(parcel).within(1ms);
  co_return sent.has_value();  // if false, the parcel is untouched
}
// [push]

// [get]
weir::task<int> ask_again(weir::future<int>& answer, weir::event& hurry) {
  auto got = co_await answer.get().within(1ms);
  if (got) co_return *got;
  hurry.set();
  co_return co_await answer.get();  // the value was not lost: get() may be called again
}
// [get]

weir::task<int> slow_answer(weir::event& hurry) {
  co_await hurry.wait();
  co_return 42;
}

}  // namespace

int main() {
  weir::thread_pool threads(2);
  weir::queue<int> items(4);
  auto producing = weir::spawn(threads, produce(items, 1000));
  const int counted = weir::spawn(threads, count_in_order(items)).get().wait();
  producing.get().wait();
  std::printf("%d items, in order\n", counted);

  weir::queue<std::unique_ptr<int>> box(1);
  box.try_push(std::make_unique<int>(1));
  auto parcel = std::make_unique<int>(2);
  const bool kept = !weir::sync_wait(send(box, parcel)) && parcel && *parcel == 2;
  std::printf("the parcel was %s\n", kept ? "refused, and is still here" : "lost");

  weir::event hurry;
  auto answer = weir::spawn(threads, slow_answer(hurry));
  const int answered = weir::sync_wait(ask_again(answer, hurry));
  std::printf("the result came at the second asking: %d\n", answered);
  return counted == 1000 && kept && answered == 42 ? 0 : 1;
}
