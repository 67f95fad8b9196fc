// Two mirrors are asked, the first answer counts, the other is called off; then urgent orders before ordinary ones.
//
// Prints:
//   the near mirror: 12 pages
//   the far mirror was called off
//   served: fire flood tea milk

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <weir/weir.hpp>

using namespace std::chrono_literals;

namespace {

struct mirror {
  weir::event answers;
  bool called_off = false;
};

weir::task<int> count_pages(mirror& asked) {
  const auto me = co_await weir::this_task();
  auto answered = co_await asked.answers.wait().stop_on(me.stop);
  asked.called_off = !answered;
  answered.value();  // throws if it was called off
  co_return 12;
}

// [mirrors]
weir::task<std::optional<int>> ask_both(weir::thread_pool& on, mirror& near, mirror& far) {
  weir::pool asking(on, 2);
  auto from_near = co_await asking.submit(count_pages(near));
  auto from_far = co_await asking.submit(count_pages(far));
  auto first = co_await weir::select(from_near.get().as_result(), from_far.get().as_result()).within(10s);
  asking.request_stop();   // the slower one is no longer needed,
  co_await asking.join();  // but it uses its mirror until it has ended
  if (!first) co_return std::nullopt;
  auto& answer = first->index() == 0 ? std::get<0>(*first) : std::get<1>(*first);
  co_return answer ? std::optional(*answer) : std::nullopt;
}
// [mirrors]

// [urgent]
weir::task<std::string> serve(weir::queue<std::string>& urgent, weir::queue<std::string>& ordinary, int orders) {
  std::string served;
  for (; orders > 0; --orders) {
    auto next = co_await weir::select(urgent.pop(), ordinary.pop());  // both ready: the first listed wins
    auto& order = next.index() == 0 ? std::get<0>(next) : std::get<1>(next);
    served += " " + order.value_or("nothing");
  }
  co_return served;
}
// [urgent]

}  // namespace

int main() {
  mirror near, far;
  near.answers.set();
  weir::thread_pool threads(2);
  const auto pages = weir::sync_wait(ask_both(threads, near, far));
  std::printf("the near mirror: %d pages\n", pages.value_or(-1));
  std::printf("the far mirror %s\n", far.called_off ? "was called off" : "is still asked");

  weir::queue<std::string> urgent, ordinary;
  for (const char* order : {"tea", "milk"}) ordinary.try_push(order);
  for (const char* order : {"fire", "flood"}) urgent.try_push(order);
  const auto served = weir::sync_wait(serve(urgent, ordinary, 4));
  std::printf("served:%s\n", served.c_str());
  return pages == 12 && far.called_off && served == " fire flood tea milk" ? 0 : 1;
}
