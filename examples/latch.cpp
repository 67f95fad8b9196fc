// Requests are answered once all parts of a server have been loaded.

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <weir/weir.hpp>

using namespace std::chrono_literals;

namespace {

// [latch]
struct server {
  std::array<std::string, 3> parts;
  weir::latch loading{3};
};

weir::task<> load(server& at, std::size_t part, std::string from) {
  co_await weir::sleep_for(1ms);  // reads the file
  at.parts[part] = from;
  at.loading.count_down();  // the last call opens the latch
}

weir::task<std::string> request(server& at) {
  auto loaded = co_await at.loading.wait().within(10s);  // does not wait if the latch is open
  if (!loaded) co_return "not up yet";
  co_return at.parts[0] + at.parts[1] + at.parts[2];  // writes before count_down() are visible here
}
// [latch]

}  // namespace

int main() {
  server one;
  weir::thread_pool threads(2);
  std::vector<weir::future<std::string>> answers;
  for (int i = 0; i < 5; ++i) answers.push_back(weir::spawn(threads, request(one)));
  const char* const files[] = {"a", "b", "c"};
  std::vector<weir::future<>> loads;
  for (std::size_t part = 0; part < 3; ++part) loads.push_back(weir::spawn(threads, load(one, part, files[part])));

  bool right = true;
  for (auto& answer : answers) right = answer.get().wait() == "abc" && right;
  for (auto& each : loads) each.get().wait();
  return right && one.loading.try_wait() && weir::sync_wait(request(one)) == "abc" ? 0 : 1;
}
