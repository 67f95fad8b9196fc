// Three workers meet between two steps; whoever began them waits until all are done.

#include <string>
#include <utility>

#include <weir/weir.hpp>

namespace {

// [counting]
weir::task<> worker(weir::barrier& between, weir::wait_group& workers, std::string& log) {
  log += "a";
  co_await between.arrive_and_wait();  // nobody begins the second step before all have ended the first
  log += "b";
  workers.done();
}

weir::task<std::string> work() {
  std::string log;
  weir::barrier between(3, [&log] { log += "|"; });
  weir::wait_group workers;
  workers.add(3);
  auto three =
      weir::when_all(worker(between, workers, log), worker(between, workers, log), worker(between, workers, log));
  co_await std::move(three);
  co_await workers.wait();
  co_return log;
}
// [counting]

}  // namespace

int main() { return weir::sync_wait(work()) == "aaa|bbb" ? 0 : 1; }
