// Wraps a callback interface in a future; then a server that sends each answer through a oneshot.

#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weir/weir.hpp>

namespace {

/// A third-party class that calls back from its own thread.
class reader {
 public:
  void read(const std::string& name, std::function<void(bool, std::string)> then) {
    threads_.emplace_back([=] { then(name != "missing", "text of " + name); });
  }

 private:
  std::vector<std::jthread> threads_;
};

// [future]
weir::future<std::string> read(reader& files, const std::string& name) {
  auto made = std::make_shared<weir::promise<std::string>>();  // a std::function must be copyable
  auto text = made->get_future();
  files.read(name, [made](bool found, std::string read) {
    if (found) {
      made->set_value(std::move(read));
    } else {
      made->set_exception(std::make_exception_ptr(std::runtime_error("no such file")));
    }
  });
  return text;
}

weir::task<std::string> show(reader& files, std::string name) {
  auto text = read(files, name);
  auto got = co_await text.get().as_result();  // without as_result() the exception is rethrown here
  if (!got) co_return "nothing";
  co_return *got;
}
// [future]

// [oneshot]
struct request {
  int number;
  weir::oneshot_sender<int> answer;
};

weir::task<> serve(weir::queue<request>& requests) {
  while (auto each = co_await requests.pop()) each->answer.send(each->number * each->number);
}

weir::task<int> ask(weir::queue<request>& server, int number) {
  auto [answer, answered] = weir::make_oneshot<int>();
  request made{number, std::move(answer)};
  co_await server.push(std::move(made));
  co_return co_await answered.receive();  // errc::closed if the request was dropped unanswered
}
// [oneshot]

}  // namespace

int main() {
  reader files;
  bool right = weir::sync_wait(show(files, "a")) == "text of a" && weir::sync_wait(show(files, "missing")) == "nothing";

  weir::thread_pool threads(2);
  weir::queue<request> requests(4);
  auto server = weir::spawn(threads, serve(requests));
  right = right && weir::sync_wait(ask(requests, 5)) == 25 && weir::sync_wait(ask(requests, 6)) == 36;
  requests.close();
  server.get().wait();

  weir::queue<request> dropping;
  auto unanswered = weir::spawn(threads, ask(dropping, 7));
  while (dropping.empty()) std::this_thread::yield();
  dropping.stop();
  right = right && unanswered.get().as_result().wait().error() == weir::errc::failed;  // ask() has thrown errc::closed
  return right ? 0 : 1;
}
