// The first of several: work, or the order to stop, or nothing for too long.

#include <chrono>
#include <string>
#include <utility>
#include <variant>

#include <weir/weir.hpp>

using namespace std::chrono_literals;

namespace {

// [select]
weir::task<std::string> serve(weir::queue<std::string>& requests, weir::event& stop) {
  std::string served;
  for (;;) {
    auto first = co_await weir::select(stop.wait(), requests.pop()).within(100ms);
    if (!first) co_return served + "idle";                  // nothing came: nothing was taken
    if (first->index() == 0) co_return served + "stopped";  // both were ready: the first listed wins
    auto request = std::get<1>(std::move(*first));
    if (!request) co_return served + "closed";
    served += *request + " ";
  }
}
// [select]

}  // namespace

int main() {
  weir::queue<std::string> requests;
  weir::event stop;
  for (const char* name : {"a", "b"}) requests.try_push(name);
  bool right = weir::sync_wait(serve(requests, stop)) == "a b idle";

  requests.try_push("c");
  stop.set();
  right = right && weir::sync_wait(serve(requests, stop)) == "stopped" && requests.size() == 1;

  stop.reset();
  requests.close();
  right = right && weir::sync_wait(serve(requests, stop)) == "c closed";
  return right ? 0 : 1;
}
