// A server that is silent, then busy, then well again is asked until it answers, with longer and longer pauses; and a
// request whose caller has lost interest ends in the middle of a pause.
//
// Prints:
//   the answer: hello, after 3 attempts
//   nobody answers: the wait timed out, after 4 attempts
//   interrupted: the wait was cancelled

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <weir/weir.hpp>

using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

enum class mood { silent, busy, well };

/// Answers as its moods say, one for each request; then it is silent.
class server {
 public:
  explicit server(std::vector<mood> moods) : moods_(std::move(moods)) {}

  weir::future<std::string> ask() {
    const auto now = asked_ < moods_.size() ? moods_[asked_] : mood::silent;
    auto& answer = unanswered_.emplace_back();
    auto given = answer.get_future();
    if (now == mood::well) answer.set_value("hello");
    if (now == mood::busy) answer.set_exception(std::make_exception_ptr(std::runtime_error("busy")));
    ++asked_;
    return given;
  }
  [[nodiscard]] std::size_t asked() const { return asked_; }

 private:
  std::vector<mood> moods_;
  std::size_t asked_ = 0;
  std::vector<weir::promise<std::string>> unanswered_;
};

// [retry_with_backoff]
struct patience {
  int attempts;
  milliseconds each;   // limit of one attempt
  milliseconds pause;  // after the first failure; doubled after each further one
  milliseconds longest_pause;
};

weir::task<weir::result<std::string>> ask(server& at, patience how, std::stop_token stop) {
  for (auto pause = how.pause;; pause = std::min(2 * pause, how.longest_pause)) {
    auto answer = at.ask();
    auto got = co_await answer.get().within(how.each).stop_on(stop);
    if (got || got.error() == weir::errc::cancelled || --how.attempts == 0) co_return got;
    auto rested = co_await weir::sleep_for(pause).stop_on(stop);  // ends at once on a stop request
    if (!rested) co_return rested.error();
  }
}
// [retry_with_backoff]

}  // namespace

int main() {
  server recovers({mood::silent, mood::busy, mood::well});
  const patience usual{.attempts = 4, .each = 2ms, .pause = 1ms, .longest_pause = 3ms};
  const auto got = weir::sync_wait(ask(recovers, usual, {}));
  const auto text = got ? *got : got.error().message();
  std::printf("the answer: %s, after %zu attempts\n", text.c_str(), recovers.asked());
  bool right = text == "hello" && recovers.asked() == 3;

  server dead({});
  const auto none = weir::sync_wait(ask(dead, usual, {}));
  std::printf("nobody answers: %s, after %zu attempts\n", none.error().message().c_str(), dead.asked());
  right = right && none.error() == weir::errc::timed_out && dead.asked() == 4;

  server busy({mood::busy});
  const patience endless{.attempts = 2, .each = 1h, .pause = 1h, .longest_pause = 1h};
  std::stop_source stop;
  weir::thread_pool threads(1);
  auto waiting = weir::spawn(threads, ask(busy, endless, stop.get_token()));
  stop.request_stop();  // sooner or later: the pause would take an hour
  const auto ended = waiting.get().wait();
  std::printf("interrupted: %s\n", ended.error().message().c_str());
  return right && ended.error() == weir::errc::cancelled ? 0 : 1;
}
