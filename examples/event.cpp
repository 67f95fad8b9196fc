// Requests wait until a server is up; later requests do not have to wait.

#include <string>
#include <vector>

#include <weir/weir.hpp>

namespace {

struct server {
  weir::event up;
  std::string address;
};

// [event]
weir::task<std::string> request(server& wanted) {
  co_await wanted.up.wait();  // does not wait if the event is already set
  co_return wanted.address;   // writes before set() are visible after wait()
}

weir::task<> boot(server& booting) {
  co_await weir::yield();  // reads its configuration
  booting.address = "10.0.0.1";
  booting.up.set();  // completes all current waits; later waits complete at once
}
// [event]

}  // namespace

int main() {
  weir::thread_pool threads(2);
  server one;
  std::vector<weir::future<std::string>> answers;
  for (int i = 0; i < 10; ++i) answers.push_back(weir::spawn(threads, request(one)));
  weir::spawn(threads, boot(one)).get().wait();
  answers.push_back(weir::spawn(threads, request(one)));

  bool right = one.up.is_set();
  for (auto& answer : answers) right = answer.get().wait() == "10.0.0.1" && right;
  return right ? 0 : 1;
}
