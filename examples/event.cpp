// Requests wait until a server is up; those that come later find it so.

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
  co_await wanted.up.wait();  // returns at once when it is set already
  co_return wanted.address;   // what was written before set() is seen after wait()
}

weir::task<> boot(server& booting) {
  co_await weir::yield();  // reads its configuration
  booting.address = "10.0.0.1";
  booting.up.set();  // lets all through that wait, and all that come
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
