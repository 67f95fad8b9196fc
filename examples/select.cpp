// Waits for a request or for a stop signal, with a time limit on both.

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
    if (!first) co_return served + "idle";                  // timed out: no request was taken
    if (first->index() == 0) co_return served + "stopped";  // if both are ready, the first listed wins
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
