// One connection among ten tasks on two threads. A transaction is several awaited steps, and nobody comes in between.
//
// Prints:
//   10 transactions, none torn
//   the audit gave up: resource busy

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <weir/weir.hpp>

using namespace std::chrono_literals;

namespace {

class connection {
 public:
  weir::task<> send(std::string line) {
    co_await weir::yield();  // the network: somebody else runs on this thread meanwhile
    log_ += line + ";";
  }
  [[nodiscard]] const std::string& log() const { return log_; }

 private:
  std::string log_;
};

// [resource_across_co_await]
using database = weir::guarded<connection>;

weir::task<> transfer(database& db, int amount) {
  auto held = co_await db.lock();  // waits without blocking its thread
  co_await held->send("begin");
  co_await held->send("move " + std::to_string(amount));  // each step may resume on another thread
  co_await held->send("commit");
}  // handed to the task that has waited longest

weir::task<std::string> audit(database& db) {
  auto held = co_await db.lock().within(1ms);  // an optional job does not queue for long
  co_return held ? (*held)->log() : "resource busy";
}
// [resource_across_co_await]

}  // namespace

int main() {
  weir::thread_pool threads(2);
  database db;
  std::vector<weir::future<>> transfers;
  for (int i = 0; i < 10; ++i) transfers.push_back(weir::spawn(threads, transfer(db, 5)));
  for (auto& each : transfers) each.get().wait();

  std::string expected;
  for (int i = 0; i < 10; ++i) expected += "begin;move 5;commit;";
  const auto held = db.lock().wait();
  const bool whole = held->log() == expected;
  std::printf("10 transactions, %s\n", whole ? "none torn" : "TORN");

  const auto said = weir::spawn(threads, audit(db)).get().wait();  // this thread holds it
  std::printf("the audit gave up: %s\n", said.c_str());
  return whole && said == "resource busy" ? 0 : 1;
}
